package cli

// InOptions says a remedy in the words of the command line.
var InOptions = inOptions
