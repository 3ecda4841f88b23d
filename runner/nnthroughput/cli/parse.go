package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/plan"
)

// Command is a command line that was understood.
type Command struct {
	Generic Generic
	Op      string
	// FromOp are the arguments from -op on, as they were given: what Hadoop's own class would get.
	FromOp  []string
	Options Options
	// Given are the names of the options after -op that were given, with their dash, in the order of the command line.
	Given []string
}

// opPrefix is how the option begins that ends the generic ones.
const opPrefix = "-op"

// ErrHelp is returned by Parse if help was asked for.
var ErrHelp = errors.New("help was asked for")

// Parse reads a command line as upstream does: generic options of Hadoop up to -op, and then those of the operation. It
// is a pure function. Other than upstream it refuses by name what could not have an effect, also for operation all, where
// upstream ignores what it does not know.
func Parse(args []string) (Command, error) {
	if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		return Command{}, ErrHelp
	}
	c := Command{Options: defaults()}
	var err error
	if c.Generic, c.FromOp, err = parseGeneric(args); err != nil {
		return Command{}, err
	}
	switch {
	case len(c.FromOp) == 0:
		return Command{}, errors.New("-op is missing")
	case !strings.HasPrefix(c.FromOp[0], opPrefix):
		return Command{}, fmt.Errorf("%s: neither a generic option of Hadoop nor -op, after which the operation's options come", c.FromOp[0])
	case len(c.FromOp) == 1:
		return Command{}, fmt.Errorf("%s: the operation is missing", c.FromOp[0])
	}
	c.Op = c.FromOp[1]
	if c.Op != plan.OpAll && !slices.Contains(operations(), c.Op) {
		return Command{}, fmt.Errorf("%s %s: no such operation; known are %s, all", c.FromOp[0], c.Op, strings.Join(operations(), ", "))
	}
	if err := c.parseOptions(c.FromOp[2:]); err != nil {
		return Command{}, err
	}
	if len(c.Options.BaseDirs) == 0 {
		c.Options.BaseDirs = []string{defaultBase}
	}
	return c, c.check()
}

// operations are all, in upstream's order.
func operations() []string {
	return []string{
		plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename,
		plan.OpBlockReport, plan.OpReplication, plan.OpClean,
	}
}

// parseOptions reads the options of an operation. The last one of a name counts, except that base directories add up.
func (c *Command) parseOptions(args []string) error {
	known := options()
	for i := 0; i < len(args); i++ {
		at := slices.IndexFunc(known, func(o option) bool { return o.name == args[i] })
		if at < 0 {
			return fmt.Errorf("%s: no such option; generic options such as -fs and -D stand before -op", args[i])
		}
		o := &known[at]
		if !o.knows(c.Op) {
			return fmt.Errorf("%s: operation %s has no such option", o.name, c.Op)
		}
		if o.flag != nil {
			o.flag(&c.Options)
		} else {
			if i++; i == len(args) {
				return fmt.Errorf("%s: its value is missing", o.name)
			}
			if err := o.set(&c.Options, args[i]); err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
		}
		c.Given = append(c.Given, o.name)
	}
	return nil
}

// check refuses what contradicts itself.
func (c *Command) check() error {
	o := &c.Options
	switch {
	case o.NonSuperUser && o.LeaveSafeMode:
		return errors.New("-leaveSafeMode: only a superuser may, but -nonSuperUser is given, too")
	case (o.Keytab == "") != (o.Principal == ""):
		return errors.New("-keytab and -principal: one without the other; give both, or neither to use the ticket cache of kinit")
	case c.hasDuplicateBase():
		return errors.New("-baseDirName: the same directory twice")
	}
	return c.checkDuration()
}

// checkDuration refuses numbers that could not have an effect, because a duration ends the measurement. The files of open
// and fileStatus are made before, so their number counts all the same, also in operation all.
func (c *Command) checkDuration() error {
	if c.Options.Duration == 0 {
		return nil
	}
	for _, number := range []struct{ option, op string }{
		{"-files", plan.OpCreate}, {"-dirs", plan.OpMkdirs}, {"-reports", plan.OpBlockReport},
	} {
		inAll := c.Op == plan.OpAll && number.op != plan.OpCreate
		if c.given(number.option) && (c.Op == number.op || inAll) {
			return fmt.Errorf("%s and -duration: one or the other says when %s ends; leave one out", number.option, number.op)
		}
	}
	return nil
}

func (c *Command) hasDuplicateBase() bool {
	sorted := slices.Sorted(slices.Values(c.Options.BaseDirs))
	return len(slices.Compact(sorted)) < len(c.Options.BaseDirs)
}

// given tells whether an option was given.
func (c *Command) given(name string) bool { return slices.Contains(c.Given, name) }

// knows tells whether an operation takes an option. In operation all each one takes those it knows.
func knows(op, name string) bool {
	return slices.ContainsFunc(options(), func(o option) bool { return o.name == name && o.knows(op) })
}

// beyondUpstream is the first option given that upstream has not got; empty if there is none.
func (c *Command) beyondUpstream() string {
	for _, o := range ownOptions() {
		if c.given(o.name) {
			return o.name
		}
	}
	if c.Op == plan.OpClean && c.given("-baseDirName") {
		return "-baseDirName"
	}
	return ""
}
