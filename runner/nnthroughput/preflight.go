package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// preflightTimeout bounds the whole of preflight.
const preflightTimeout = 2 * time.Minute

// notPermitted stands for a fact that the user has no right to know.
const notPermitted = "unknown (not permitted)"

// inspection is preflight under way.
type inspection struct {
	*step
	claims   bool       // the run makes something below its base directories
	safeMode bool       // is on
	bases    []contents // of each base directory
	missing  []int      // how many directories have to be made for each
	marked   []string   // markers made just now
}

// preflight finds out whether the run can work, reports what the target is, and claims the base directories if the run
// makes anything there. Nothing is written before everything else was found good.
func (s *step) preflight(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, preflightTimeout)
	defer cancel()
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	p := &inspection{step: s}
	p.claims = slices.ContainsFunc(s.nnt.Operations, s.makesFiles)
	for _, phase := range []func(context.Context) error{
		p.greet, p.gatherFacts, p.checkSafeMode, p.checkBases, p.checkSet, p.checkDataNodes, p.claim,
	} {
		if err := phase(ctx); err != nil {
			if ctx.Err() != nil && parent.Err() == nil {
				return steps.Fail(report.ExitTarget, steps.ReasonNameNodeUnreachable, "look at the NameNode's load and log",
					"the NameNode did not answer everything within %s: %s", preflightTimeout, textOf(err))
			}
			return err
		}
	}
	s.countCalls(ctx, "before")
	return nil
}

// makesFiles tells operations that make something below the base directory, or delete what lies there.
func (s *step) makesFiles(op string) bool { return !s.nnt.UseExisting || !reads(op) && !consumes(op) }

// greet makes the first call. Only its answer shows that the other side is an active NameNode.
func (p *inspection) greet(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, reach.Timeout)
	defer cancel()
	if _, _, err := p.control().GetFileInfo(ctx, "/"); err != nil {
		return p.refused("ask the NameNode for its root directory", err)
	}
	return nil
}

// gatherFacts finds out what the target is. What only a superuser may know is done without.
func (p *inspection) gatherFacts(ctx context.Context) error {
	fs, err := p.env.Conf.FileSystem(p.env.Plan.Target.FS)
	if err != nil {
		return steps.ConfigError(err)
	}
	p.fact("fs", fs.URI)
	p.fact("nameNode", strings.Join(fs.Addresses, ","))
	if active, ok := p.target.(interface{ Address() string }); ok {
		p.fact("nameNode", active.Address())
	}
	p.fact("user", p.user())
	p.fact("blockSize", strconv.FormatInt(p.settings.blockSize, 10))
	p.fact("replication", strconv.Itoa(int(p.settings.replication)))
	p.fact("runner", p.env.Version)
	p.fact("go", p.env.GoVersion)
	for _, gather := range []func(context.Context) error{p.versionFacts, p.liveFact, p.spaceFacts, p.filesFact} {
		if err := gather(ctx); err != nil {
			return err
		}
	}
	return nil
}

// versionFacts asks as another NameNode would, which a cluster with service authorization refuses to ordinary users.
// Nothing but these facts depends on it.
func (p *inspection) versionFacts(ctx context.Context) error {
	space, err := p.control().Version(ctx)
	switch {
	case err == nil:
		p.fact("nameNodeVersion", space.SoftwareVersion)
		p.fact("blockPool", space.Pool)
	case unreachable(err) || ctx.Err() != nil:
		return p.refused("ask the NameNode for its version", err)
	default:
		p.env.Log.Warn("The NameNode's version is not known", "error", err)
		p.fact("nameNodeVersion", notPermitted)
	}
	return nil
}

func (p *inspection) liveFact(ctx context.Context) error {
	live, err := p.control().DataNodeReport(ctx, namenode.ReportLive)
	switch {
	case err == nil:
		p.fact("liveDataNodes", strconv.Itoa(len(live)))
	case denied(err):
		p.fact("liveDataNodes", notPermitted)
	default:
		return p.refused("list the live DataNodes", err)
	}
	return nil
}

func (p *inspection) spaceFacts(ctx context.Context) error {
	stats, err := p.control().FSStats(ctx)
	if err != nil {
		return p.refused("ask the NameNode for its space", err)
	}
	p.fact("capacityBytes", strconv.FormatUint(stats.Capacity, 10))
	p.fact("remainingBytes", strconv.FormatUint(stats.Remaining, 10))
	return nil
}

// filesFact counts what lies below the base directories before the run.
func (p *inspection) filesFact(ctx context.Context) error {
	var files uint64
	for _, base := range p.nnt.BaseDirs {
		sum, err := p.control().ContentSummary(ctx, base)
		switch {
		case err == nil:
			files += sum.Files
		case classOf(err) == classMissing:
		case denied(err):
			p.fact("files", notPermitted)
			return nil
		default:
			return p.refused("count the files below "+base, err)
		}
	}
	p.fact("files", strconv.FormatUint(files, 10))
	return nil
}

func (p *inspection) checkSafeMode(ctx context.Context) error {
	var err error
	if p.safeMode, err = p.control().SetSafeMode(ctx, namenode.SafeModeGet, true); err != nil {
		return p.refused("ask the NameNode for its safe mode", err)
	}
	if p.safeMode && !p.nnt.ManageSafeMode {
		return steps.Fail(report.ExitTarget, steps.ReasonSafeMode, remedySafeMode, "the NameNode is in safe mode")
	}
	// Leaving it is noted in the base directory.
	p.claims = p.claims || p.safeMode
	return nil
}

// checkBases looks at what lies in each base directory.
func (p *inspection) checkBases(ctx context.Context) error {
	for _, base := range p.nnt.BaseDirs {
		c, err := p.look(ctx, base)
		if err != nil {
			return err
		}
		if err := checkBase(base, c, p.claims); err != nil {
			return err
		}
		missing, err := p.countMissing(ctx, base)
		if err != nil {
			return err
		}
		p.bases, p.missing = append(p.bases, c), append(p.missing, missing)
	}
	return nil
}

// countMissing counts the directories that do not exist yet: a base directory and those above it.
func (p *inspection) countMissing(ctx context.Context, base string) (int, error) {
	n := 0
	for dir := base; dir != "/"; dir = path.Dir(dir) {
		_, found, err := p.control().GetFileInfo(ctx, dir)
		if err != nil {
			return 0, p.refused("look at "+dir, err)
		}
		if found {
			break
		}
		n++
	}
	return n, nil
}

// checkBase tells whether a run may work in a base directory: in its own, in an empty one, and, if it makes nothing, in
// any.
func checkBase(base string, c contents, claims bool) error {
	if c.mine || !claims {
		return nil
	}
	if len(c.others) > 0 {
		return leftovers(base, c.others[0])
	}
	if len(c.entries) > 0 {
		return steps.Fail(report.ExitTarget, steps.ReasonBaseDirNotOurs,
			"set spec.baseDirName to a directory that does not exist or is empty; with useExisting, only operations that make no files can share one",
			"%s holds %d entries and no marker of a run; they are for example %s", base, len(c.entries), strings.Join(c.entries[:min(3, len(c.entries))], ", "))
	}
	return nil
}

func leftovers(base string, o claimant) error {
	return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound,
		fmt.Sprintf("if run %s still exists, wait for its end; if it does not, and nobody needs its files: hdfs dfs -rm -r %s; else set another spec.baseDirName", o.run, base),
		"%s holds the files of run %s (UID %s)", base, o.run, o.uid)
}

// checkSet looks for the first and the last of the files that operations are to find there already.
func (p *inspection) checkSet(ctx context.Context) error {
	if !p.nnt.UseExisting || p.nnt.Files < 1 {
		return nil
	}
	for _, op := range p.nnt.Operations {
		if op == plan.OpCreate {
			return nil // this run makes the set
		}
		if !reads(op) && !consumes(op) {
			continue
		}
		for _, number := range []int64{0, p.nnt.Files - 1} {
			if err := p.checkFile(ctx, op, number); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFile looks for one file of the set that an operation works on.
func (p *inspection) checkFile(ctx context.Context, op string, number int64) error {
	owner := ownerOf(p.nnt.Files, int64(p.nnt.Threads), number)
	base := p.nnt.BaseDirs[owner%int64(len(p.nnt.BaseDirs))]
	dir, err := p.setOf(ctx, base, op)
	if err != nil {
		return err
	}
	if dir == "" {
		return dataMissing("%s holds neither %s nor %s, whose files operation %s is to work on", base, op, plan.OpCreate, op)
	}
	file := tree{perDir: int64(p.nnt.FilesPerDir)}.path(dir, number)
	status, found, err := p.control().GetFileInfo(ctx, file)
	if err != nil {
		return p.refused("look at "+file, err)
	}
	if !found || status.Dir {
		return dataMissing("%s is no file, though %d files with filesPerDir %d are to exist", file, p.nnt.Files, p.nnt.FilesPerDir)
	}
	return nil
}

// checkDataNodes registers one fake DataNode, at port 1 of this pod's address, and takes it back at once.
func (p *inspection) checkDataNodes(ctx context.Context) error {
	if !slices.Contains(p.nnt.Operations, plan.OpBlockReport) {
		return nil
	}
	if !p.nnt.AllowFakeDataNodes {
		return steps.Fail(report.ExitPlan, steps.ReasonDataNodeRefused, "set spec.allowFakeDataNodes if the target's owner agrees",
			"operation blockReport registers fake DataNodes, which everybody in the cluster sees: spec.allowFakeDataNodes is not set")
	}
	f, err := p.newFleet(ctx)
	if err != nil {
		return err
	}
	if err := f.refuseEvictions(ctx, p.control(), reportShare{end: 1}); err != nil {
		return p.refused("list the live DataNodes, which blockReport must tell from its own", err)
	}
	n, err := newFakeNode(0, f.run, p.env.Random, len(f.sides))
	if err != nil {
		return err
	}
	for side := range f.sides {
		n.tried[side] = true
	}
	f.nodes = []*fakeNode{n}
	// Registered under the common UUID, it is also what the shards' own ones become in the end.
	if err := f.takeBack(ctx); err != nil {
		return p.refusedNode(err)
	}
	return nil
}

// claim makes the base directories and their markers. A trial in each shows that files of this run can be made there.
func (p *inspection) claim(ctx context.Context) (err error) {
	if !p.claims {
		return nil
	}
	if p.safeMode {
		if _, err := p.control().SetSafeMode(ctx, namenode.SafeModeLeave, true); err != nil {
			return p.refused("leave safe mode", err)
		}
	}
	defer func() {
		if err != nil {
			p.undo(ctx)
		}
	}()
	for _, base := range p.nnt.BaseDirs {
		if err := p.try(ctx, base); err != nil {
			return err
		}
	}
	for i, base := range p.nnt.BaseDirs {
		if p.bases[i].mine {
			continue
		}
		marker := path.Join(base, p.markerName())
		if err := p.put(ctx, marker); err != nil {
			return err
		}
		p.marked = append(p.marked, marker)
		if n := p.missing[i]; n > 0 {
			made := path.Join(base, madePrefix+strconv.Itoa(n))
			if err := p.put(ctx, made); err != nil {
				return err
			}
			p.marked = append(p.marked, made)
		}
		// Two runs could have found it empty at the same time; then both give way.
		if c, err := p.look(ctx, base); err != nil {
			return err
		} else if err := checkBase(base, contents{others: c.others}, true); err != nil {
			return err
		}
	}
	if p.safeMode && !p.bases[0].safeMode {
		return p.put(ctx, path.Join(p.nnt.BaseDirs[0], safeModeName))
	}
	return nil
}

// try makes an empty file like the run's in a base directory, and removes it: that shows the right to write, and that the
// NameNode accepts block size and replication.
func (p *inspection) try(ctx context.Context, base string) error {
	file := path.Join(base, trialPrefix+p.env.Plan.Identity.RunUID)
	if _, err := p.control().Create(ctx, file, p.createOptions(controlClient)); err != nil {
		return p.refused(fmt.Sprintf("create %s with block size %d and replication %d", file, p.settings.blockSize, p.settings.replication), err)
	}
	if _, err := p.control().Delete(ctx, file, false); err != nil {
		return p.refused("delete "+file, err)
	}
	return nil
}

// undo removes what a failed claim made, and enters safe mode again if it left it.
func (p *inspection) undo(parent context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), takeDownTimeout)
	defer cancel()
	var failed []error
	for _, marker := range p.marked {
		_, err := p.control().Delete(ctx, marker, false)
		failed = append(failed, err)
	}
	for i, base := range p.nnt.BaseDirs {
		failed = append(failed, p.removeMade(ctx, ownBase{base, p.missing[i]}))
	}
	if p.safeMode && !p.bases[0].safeMode {
		_, err := p.control().SetSafeMode(ctx, namenode.SafeModeEnter, true)
		failed = append(failed, err)
	}
	if err := errors.Join(failed...); err != nil {
		p.env.Log.Warn("Not everything that preflight made could be removed", "error", err)
	}
}
