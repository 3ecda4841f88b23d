// Package controllers is the manager's half of the operator: one generic reconciler that carries out the runs of every
// kind, and a small Benchmark per kind that knows the kind's steps and plans.
//
// A visit gathers what the cluster shows (gather.go, shards.go), decides by pure functions what the status should say
// and what is to be done (decide*.go, conditions.go), does it (act.go, gate.go, persist.go), and writes the status once.
// What is done follows only from what the status said at the beginning of the visit: every intent (an attempt, a start
// time, an order to stop) is recorded first and carried out by a later visit that has read it back. So the operator can
// be killed at any point, and a visit with a stale cache fails at the status write instead of doing a thing twice.
package controllers
