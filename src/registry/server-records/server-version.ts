/** Turns `1.2.0` into the tag `v1.2.0`; leaves a version that is not semantic as it is. */
export function toVersionTag(version: string): string {
  return /^\d+\.\d+\.\d+/.test(version) ? `v${version}` : version;
}

/** Orders by version numbers, pre-releases before their release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [split(a), split(b)];
  for (let index = 0; index < Math.max(left.numbers.length, right.numbers.length); index += 1) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.suffix === right.suffix) return 0;
  if (left.suffix === "") return 1;
  if (right.suffix === "") return -1;
  return left.suffix < right.suffix ? -1 : 1;
}

function split(version: string): { numbers: number[]; suffix: string } {
  const [plain = ""] = version.split("+");
  const dash = plain.indexOf("-");
  const numbers = (dash === -1 ? plain : plain.slice(0, dash)).split(".").map((part) => Number.parseInt(part, 10) || 0);
  return { numbers, suffix: dash === -1 ? "" : plain.slice(dash + 1) };
}
