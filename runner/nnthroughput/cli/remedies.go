package cli

import "strings"

// remedyWords are pairs: what remedies say that were written for the objects of the operator, and what stands for it on a
// command line; longer texts before their parts. Fields that an option is named after need no entry.
func remedyWords() []string {
	return []string{
		// There is no option for these, or they are true of pods only.
		"the Hadoop configuration the run refers to", "the Hadoop configuration (HADOOP_CONF_DIR, -conf or -D)",
		", and that network policies let this namespace reach it", ", and that it can be reached from here",
		"; a Service of another namespace needs its namespace: <service>.<namespace>", "",
		"from this namespace", "from here",
		", or keep the pods off that node (spec.podTemplate)", ", or run this on another machine",
		"set spec.replication, or dfs.replication,", "set dfs.replication (-D)",

		"principal, keytab and krb5.conf in spec.target.kerberos", "-principal, -keytab and -krb5conf, or the ticket cache (klist)",
		"set spec.target.kerberos,", "set -keytab and -principal, or log in by kinit,",
		"leave spec.target.kerberos unset", "set hadoop.security.authentication to simple (-D)",
		"spec.target.kerberos", "-keytab and -principal",
		"act as a superuser of HDFS (spec.target)", "act as a superuser of HDFS (-user, or a Kerberos login)",
		"set spec.target.user or spec.baseDirName", "act as another one (-user, or a Kerberos login), or set another -baseDirName",
		"spec.target.user", "-user",
		"set spec.allowFakeDataNodes", "leave -allowFakeDataNodes false out",
		"spec.manageSafeMode", "-leaveSafeMode",
		"spec.target", "-fs",
	}
}

// inOptions says a remedy in the words of the command line: options where it names fields of a spec.
func inOptions(remedy string) string {
	words := remedyWords()
	for _, o := range options() {
		words = append(words, "spec."+strings.TrimPrefix(o.name, "-"), o.name)
	}
	return strings.NewReplacer(words...).Replace(remedy)
}
