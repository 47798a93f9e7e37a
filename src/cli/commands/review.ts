import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import { PmlError } from "../../base/errors.ts";
import type { Answer, Command, OptionValues } from "../command.ts";
import { noStartOption, reachDaemon } from "../daemon-access.ts";
import type { ReviewRow } from "../../contract/servers.ts";
import { describeReview, shortHash } from "../reviews.ts";

export const review: Command = {
  name: "review",
  group: "Decide",
  summary: "tools whose definition changed under their name, and what to do about them",
  examples: ["pml review", "pml review files:read_file --accept"],
  args: [{ name: "[tool]", description: "server:tool, or a server for all of its changed tools" }],
  options: [
    { flags: "--accept", description: "take the tool as it is now" },
    { flags: "--refuse", description: "do not offer it as it is now" },
    { flags: "--hash <start>", description: "only if this is still the definition, as pml review printed it" },
    noStartOption,
  ],
  async run(input): Promise<Answer> {
    const [subject] = input.args;
    const verdict = readVerdict(input.options);
    const daemon = await reachDaemon(input);
    if (verdict === undefined) {
      return describe(await callDaemon(daemon, routes.listReviews, { query: { subject } }));
    }
    if (subject === undefined) {
      throw new PmlError("usage", `--${verdict === "accepted" ? "accept" : "refuse"} needs a tool or server`, {
        hint: "What there is to decide about: pml review",
      });
    }
    const { hash } = input.options;
    const body = { subject, verdict, ...(hash === undefined ? {} : { hash: String(hash) }) };
    const decided = await callDaemon(daemon, routes.decideReviews, { body });
    return {
      data: decided.map((each) => ({ ...each, verdict })),
      text: decided.map((each) => `${verdict} ${each.tool} as ${shortHash(each)}`).join("\n"),
    };
  },
};

function readVerdict({ accept, refuse }: OptionValues): "accepted" | "refused" | undefined {
  if (accept === true && refuse === true) throw new PmlError("usage", "--accept and --refuse exclude each other");
  if (accept === true) return "accepted";
  return refuse === true ? "refused" : undefined;
}

function describe(reviews: readonly ReviewRow[]): Answer {
  const [first] = reviews;
  if (first === undefined) return { data: reviews, text: "No tool waits for a review" };
  return {
    data: reviews,
    text: reviews.map(describeReview).join("\n\n"),
    notes: [`Take it as it is: pml review ${first.tool} --accept --hash ${shortHash(first)}`],
  };
}
