/** `name  value` lines with the values under each other on a terminal, tab-separated in a pipe. */
export function formatPairs(pairs: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  const separate = (name: string): string => (process.stdout.isTTY ? `${name.padEnd(width)}  ` : `${name}\t`);
  return Object.entries(pairs)
    .map(([name, value]) => `${separate(name)}${value}`)
    .join("\n");
}
