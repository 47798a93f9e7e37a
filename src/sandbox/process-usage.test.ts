import { describe, expect, it } from "vitest";
import { createUsageReader, parsePsTime } from "./process-usage.ts";

describe("createUsageReader", () => {
  it.each(["linux", "darwin"] as const)("measures a process from outside, as on %s", async (platform) => {
    const usage = (await createUsageReader(platform)?.read([process.pid, 2 ** 22 + 1]))?.get(process.pid);
    const rssMb = process.memoryUsage.rss() / 2 ** 20;
    expect(usage?.rssMb).toBeGreaterThan(rssMb / 2);
    expect(usage?.rssMb).toBeLessThan(rssMb * 2);
    // ps counts in whole seconds on some systems.
    expect(usage?.cpuMs).toBeGreaterThanOrEqual(0);
    expect(usage?.cpuMs).toBeLessThan(process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000 + 1_000);
  });

  it("returns undefined on Windows", () => {
    expect(createUsageReader("win32")).toBeUndefined();
  });

  it("parses the times that ps prints", () => {
    expect(parsePsTime("0:01.50")).toBe(1_500);
    expect(parsePsTime("00:01:02")).toBe(62_000);
    expect(parsePsTime("1-00:00:01")).toBe(86_401_000);
  });
});
