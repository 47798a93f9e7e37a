/** A disk in a file: an ext4 image on a loop device, whose state can be copied at any moment. */
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { registerCleanup } from "./cleanup.ts";
import { runProgram, unmount } from "./system.ts";

export const IMAGE_PROGRAMS = ["losetup", "mkfs.ext4", "mount", "umount", "cp"];

const IMAGE_BYTES = 512 * 1024 * 1024;

export function createImage(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, IMAGE_BYTES);
  // Disables lazy initialisation: the kernel would write while the image is copied.
  runProgram("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", path);
}

export interface MountedImage extends Disposable {
  readonly image: string;
  readonly device: string;
  readonly folder: string;
}

export interface MountOptions {
  readonly image: string;
  readonly folder: string;
  /** Interval after which ext4 commits its journal by itself. */
  readonly commitSeconds: number;
}

export function mountImage({ image, folder, commitSeconds }: MountOptions): MountedImage {
  mkdirSync(folder, { recursive: true });
  using stack = new DisposableStack();
  const device = runProgram("losetup", "--find", "--show", image);
  stack.use(registerCleanup(() => runProgram("losetup", "--detach", device)));
  runProgram("mount", "-o", `noatime,commit=${commitSeconds}`, device, folder);
  stack.use(registerCleanup(() => unmount(folder)));
  const mounted = stack.move();
  return { image, device, folder, [Symbol.dispose]: () => mounted.dispose() };
}

const COPY_ATTEMPTS = 20;

/**
 * Copies the state that a power cut would leave now: everything written to the device, nothing that is still in memory.
 * Retries a copy during which something reached the device, because it is no single moment.
 */
export function copyDevice({ image, device }: MountedImage, target: string): void {
  for (let attempt = 1; attempt <= COPY_ATTEMPTS; attempt += 1) {
    const before = countWrites(device);
    copyImage(image, target);
    if (countWrites(device) === before) return;
  }
  throw new Error(`${device} was written to during each of ${COPY_ATTEMPTS} copies`);
}

export function copyImage(source: string, target: string): void {
  runProgram("cp", "--sparse=always", source, target);
}

/** Returns completed requests, written sectors and requests in flight, as the kernel counts them. */
function countWrites(device: string): string {
  const fields = readFileSync(`/sys/block/${basename(device)}/stat`, "utf8")
    .trim()
    .split(/\s+/);
  return [fields[4], fields[6], fields[8]].join(" ");
}
