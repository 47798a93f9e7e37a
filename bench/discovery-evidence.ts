import { type Dataset, openDatasets } from "./discovery/dataset.ts";
import { measureFinders } from "./discovery/finder-gain.ts";
import { measureGraph } from "./discovery/graph-gain.ts";
import { measureRecord } from "./discovery/record-gain.ts";
import { measureReuse } from "./discovery/reuse.ts";
import { openScene } from "./discovery/scene.ts";
import type { Benchmark } from "./support/benchmark.ts";

const WITH_SEVERAL_TOOLS = ["metatool-multi", "restbench-spotify", "restbench-tmdb", "sealtools", "toolalpaca"];
const WITH_IDS = ["apibank", "restbench-spotify", "restbench-tmdb", "sealtools", "toolalpaca"];
const FOR_RECORD = ["apibank", "toolalpaca"];
const FOR_REUSE = ["apibank", "metatool", "toolalpaca"];

/** Measures the gain from recorded runs and from required inputs, against the same index without them. */
export const discoveryEvidence: Benchmark = {
  title: "gain from evidence beside words and meaning",
  columns: ["without", "with", "gain"],
  async run(session) {
    const datasets = openDatasets(session);
    const pick = (names: readonly string[]): Dataset[] => datasets.filter(({ name }) => names.includes(name));
    for (const dataset of pick(FOR_REUSE)) measureReuse(session, dataset);
    await using scene = await openScene();
    for (const dataset of pick(FOR_RECORD)) await measureRecord(session, scene, dataset);
    for (const dataset of pick(WITH_IDS)) await measureFinders(session, scene, dataset);
    for (const dataset of pick(WITH_SEVERAL_TOOLS)) await measureGraph(session, scene, dataset);
    session.note(
      "Reuse: tools stand for capabilities, and their queries for tasks. Track record: every tool twice with the same text, one failing more often; figures are how often the first result does what was asked for. Needed first: without, ids are called keys, so that nobody sees who needs what. Used together: edges from one half of the queries, asked with the other half, both ways.",
    );
  },
};
