// Package ycsb is YCSB's core workload: which records operations choose and what they write, to the bit as YCSB does it,
// and the run that carries them out and measures them.
//
// A [Config] is made of YCSB's properties and a [Workload] of a Config; each thread of a [Run] asks its own part of the
// workload for the next operation and gives it to its [Session] of a [DB]. Sessions are opened before the clock starts.
// On the timed path nothing allocates, locks or logs; what threads recorded is added up in a [Result], which knows YCSB's
// own report as well as the figures of a shard.
package ycsb
