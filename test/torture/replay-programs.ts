/** Programs whose runs are interrupted everywhere. Each key is added once, however often the run is resumed. */
export const replayPrograms: Readonly<Record<string, string>> = {
  sequence: `
    const a = await mcp.counting.read({ key: "start" });
    await mcp.counting.add({ key: "one" });
    if (a.count > 0) await mcp.counting.add({ key: "two" });
    return "done";`,
  loop: `
    const { items } = await mcp.counting.list({ length: 3 });
    for (const n of items) {
      await mcp.counting.read({ key: "r" + n });
      await mcp.counting.add({ key: "loop" + n });
    }
    return "done";`,
  parallel: `
    const { items } = await mcp.counting.list({ length: 3 });
    await Promise.all(items.map(async (n) => {
      await mcp.counting.read({ key: "p" + n });
      await mcp.counting.add({ key: "parallel" + n });
    }));
    await mcp.counting.put({ key: "after" });
    return "done";`,
  guarded: `
    for (let tries = 0; tries < 2; tries++) {
      try {
        await mcp.counting.add({ key: "try" + tries });
        await mcp.counting.fail({ key: "x" });
      } catch (error) {
        await mcp.counting.add({ key: "caught" + tries });
      }
    }
    return "done";`,
  nested: `
    const twice = await capabilities.util.add_two({ prefix: "outer" });
    await mcp.counting.add({ key: "between" });
    await Promise.all([
      capabilities.util.add_two({ prefix: "left" }),
      capabilities.util.add_two({ prefix: "right" }),
    ]);
    return twice;`,
};

/** The capability that the nested program calls; learned before the interruptions begin. */
export const innerProgram = `
  await mcp.counting.add({ key: args.prefix + "-a" });
  await mcp.counting.read({ key: args.prefix });
  await mcp.counting.add({ key: args.prefix + "-b" });
  return "done";`;
