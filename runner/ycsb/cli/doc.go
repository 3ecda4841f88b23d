// Package cli is YCSB's command line: the options of bin/ycsb and of the class site.ycsb.Client, its workload files, its
// status lines and its final report, and besides them exit codes that tell what happened.
//
// Where scripts look at more than the report, they find what YCSB prints: on standard error "Command line:" with the
// arguments, "YCSB Client" with a version (which is this program's), "Loading workload..." and "Starting test."; on standard
// output the report alone, after the warning about more threads than operations. The rest of standard error is a log of
// key=value lines. A garbage collector named Go stands in the report for those of a Java virtual machine.
package cli
