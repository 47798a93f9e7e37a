/** Shares out room: what needs little gets all of it, what is left is divided evenly among the large ones. */
export function allot(needs: readonly number[], room: number): number[] {
  const shares = needs.map(() => 0);
  let left = Math.max(0, room);
  const ascending = needs.map((need, index) => ({ need, index })).toSorted((a, b) => a.need - b.need);
  for (const [position, { need, index }] of ascending.entries()) {
    const share = Math.min(need, Math.floor(left / (ascending.length - position)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
