package switches

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type number interface {
	integer | ~float32 | ~float64
}

// Add is a + b, or a - b.
func Add[T number](mutant int, a, b T) T {
	if On(mutant) {
		return a - b
	}
	return a + b
}

// Sub is a - b, or a + b.
func Sub[T number](mutant int, a, b T) T {
	if On(mutant) {
		return a + b
	}
	return a - b
}

// Mul is a * b, or a / b.
func Mul[T number](mutant int, a, b T) T {
	if On(mutant) {
		return a / b
	}
	return a * b
}

// Div is a / b, or a * b.
func Div[T number](mutant int, a, b T) T {
	if On(mutant) {
		return a * b
	}
	return a / b
}

// Rem is a % b, or a * b.
func Rem[T integer](mutant int, a, b T) T {
	if On(mutant) {
		return a * b
	}
	return a % b
}

// Neg is -a, or a.
func Neg[T number](mutant int, a T) T {
	if On(mutant) {
		return a
	}
	return -a
}

// One is 1, or -1: what is added by ++ and taken away by --.
func One[T number](mutant int) T {
	var one T = 1
	if On(mutant) {
		return -one
	}
	return one
}

// BitAnd is a & b, or a | b.
func BitAnd[T integer](mutant int, a, b T) T {
	if On(mutant) {
		return a | b
	}
	return a & b
}

// BitOr is a | b, or a & b.
func BitOr[T integer](mutant int, a, b T) T {
	if On(mutant) {
		return a & b
	}
	return a | b
}

// BitXor is a ^ b, or a & b.
func BitXor[T integer](mutant int, a, b T) T {
	if On(mutant) {
		return a & b
	}
	return a ^ b
}

// BitClear is a &^ b, or a & b.
func BitClear[T integer](mutant int, a, b T) T {
	if On(mutant) {
		return a & b
	}
	return a &^ b
}

// ShiftLeft is a << b, or a >> b.
func ShiftLeft[T, U integer](mutant int, a T, b U) T {
	if On(mutant) {
		return a >> b
	}
	return a << b
}

// ShiftRight is a >> b, or a << b.
func ShiftRight[T, U integer](mutant int, a T, b U) T {
	if On(mutant) {
		return a << b
	}
	return a >> b
}
