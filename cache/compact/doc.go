// Package compact holds objects compressed, for collections that are large and of which few objects are read at a time.
//
//	codec := compact.NewCodec(lw.RawCodec{}, nil)
//	client, err := lw.NewClient(transport, lw.Pods(""), codec, nil)
//	…
//	pods := cache.NewReflector(client, nil)
//	for pod := range pods.Store().All() {
//		fmt.Println(pod.Key(), pod.Object().Get("status.phase"))
//	}
//
// The metadata that every object has are read without decompressing. [Object.Object] is the whole of it, as the inner codec
// made it, to the byte. The objects that were read last, or have just come, are kept as they are read, within a bound.
//
// # What it takes
//
// Sample Pods of 6.5 kB, 5 kB without managedFields, of as many templates as said; all of the heap that the store adds,
// with the dictionaries, a compressor of 0.9 MB and 1 MiB of hot objects, divided by the number of Pods:
//
//	templates               1     100   1,000  10,000
//	text, 10,000 Pods   5,306   5,002   5,023   5,043 bytes each
//	       compressed     488     936     921     919
//	text, 50,000 Pods   5,304   4,999   5,023   5,039
//	       compressed     280     721     714     716
//
//	go test ./cache/compact -run '^$' -bench Retained -benchtime 1x
//
// A watch event costs 6 to 7 times the time of one that is kept as text (BenchmarkEventOverRaw), about 50 µs. To
// read an object that is not hot costs about 20 µs (BenchmarkRead), less than half of it for decompressing and the rest for
// making the object of its text. So a program that goes through all objects again and again had better keep text, or a projection.
//
// # How
//
// Text is compressed by zstd at its fastest level against a dictionary of 64 kB: sixteen objects of the collection. s2 is
// 3 to 4 times as fast in both directions and takes half as much again; zstd's next levels take 4 to 8 times as long to
// save little or nothing (BenchmarkChoice). A dictionary is made after 16 objects, after 256 more and after 4,096 more, as
// a list comes sorted and begins with objects of one namespace; and then only when 4,096 objects in a row take a quarter
// more than they did after the last one. Objects stay readable, as each holds on to the dictionary that it was compressed
// against; one is about 0.1 MB and is freed with the last of its objects. While eight are in use no more are made. The
// first sixteen objects, and all that compressing does not make smaller, are held as text.
//
// Each text is decompressed once when it comes, and held uncompressed if it is not the same: faults in the compressor,
// which has had some at its slower levels, cost memory and not truth.
//
// # Whether two objects are the same
//
// Objects are compared by the length and a hash of 128 bits of their text, so that a list of what is known compresses
// nothing, keeps nothing and tells nothing. Were two texts of one length to have the same hash by chance, which one of 2^128
// pairs does, a change from one to the other would be missed if it also came under the same key and resource version, as
// after a restored backup. The hash is [hash/maphash] with two random seeds of the process, so that nobody can prepare
// such a pair.
package compact
