// Package compact stores objects compressed. It suits programs that hold a large collection but read only a few objects
// at a time.
//
//	codec := compact.NewCodec(lw.RawCodec{})
//	client, err := lw.NewClient(transport, lw.Pods(""), codec, nil)
//	…
//	pods := cache.NewInformer(client, nil)
//	for _, pod := range pods.Store().List() {
//		fmt.Println(lw.KeyOf(pod), pod.Object().Get("status.phase"))
//	}
//
// The namespace, name, UID and resourceVersion can be read without decompression. [Object.Object] returns the complete
// object, with exactly the text that the inner codec returned. A cache of limited size keeps recently read and recently
// received objects uncompressed.
//
// # Memory and CPU time
//
// The benchmark stores sample Pods that derive from 1 to 10,000 templates. The JSON of a Pod takes 6.5 kB, or 5 kB
// without managedFields. The table shows the heap memory of the store per Pod. It includes the dictionaries, a
// compressor of 0.9 MB, and 1 MiB of uncompressed objects.
//
//	templates               1     100   1,000  10,000
//	text, 10,000 Pods   5,306   5,002   5,023   5,043 bytes each
//	       compressed     488     936     921     919
//	text, 50,000 Pods   5,304   4,999   5,023   5,039
//	       compressed     280     721     714     716
//
//	go test ./cache/compact -run '^$' -bench Retained -benchtime 1x
//
// A watch event takes about 50 µs of CPU time, 6 to 7 times as much as without compression (BenchmarkEventOverRaw).
// Reading a compressed object takes about 20 µs (BenchmarkRead). A program that repeatedly reads all objects should
// store text or a projection instead.
//
// # Compression
//
// The codec compresses text with zstd at its fastest level. A dictionary of at most 64 kB consists of 16 random
// objects of the collection. The codec creates a dictionary after 16 objects, after 256 more objects, after 4,096 more
// objects, and so on. Each interval is 16 times as long as the previous one. A dictionary takes about 0.1 MB and is freed
// with its last object. The first 16 objects, and objects that do not shrink, are stored uncompressed. BenchmarkChoice
// compares other compressors and levels.
//
// The codec decompresses each text once to verify it. If the result differs, the text is stored uncompressed. A fault
// in the compressor can therefore cost memory, but no data.
//
// # Comparison
//
// Two objects are equal if their JSON strings have the same length and the same 128-bit hash. Two different strings of
// the same length have the same hash with a probability of 2^-128. An update would be missed only if its hash collided
// and its key and resourceVersion were unchanged. The hash is [hash/maphash] with two random seeds, so an attacker
// cannot construct such strings.
package compact
