/** Scales a vector to length 1; zeros stay zeros. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  return vector.map((value) => value * scale);
}
