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
// A watch event takes about 50 µs of CPU time, 6 to 7 times as much as with text (BenchmarkEventOverRaw). Reading an object that
// is not hot takes about 20 µs (BenchmarkRead). A program that reads all objects again and again should keep text or a projection.
//
// # Compression
//
// The codec compresses text with zstd at its fastest level. The dictionary of 64 kB consists of sixteen objects of the
// collection. The codec makes a dictionary after 16 objects, after 256 more and after 4,096 more. Later it makes one only if
// 4,096 objects in a row take a quarter more space than after the last one. A dictionary takes about 0.1 MB and is freed with
// its last object. The codec makes no more while eight are in use. The first sixteen objects, and objects that do not shrink,
// are kept as text. BenchmarkChoice compares other compressors and levels.
//
// The codec decompresses each text once to verify it. If the result differs, the text is kept uncompressed. So a fault in the
// compressor costs memory, but no data.
//
// # Comparison
//
// Two objects are equal if their texts have the same length and the same hash of 128 bits. Two different texts of one length
// have the same hash with a probability of 2^-128. A change between them would be missed if the key and the resourceVersion
// were the same, too. The hash is [hash/maphash] with two random seeds, so nobody can prepare such texts.
package compact
