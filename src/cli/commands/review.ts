import { routes } from "../../contract/routes.ts";
import { callDaemon } from "../../daemon/daemon-client.ts";
import type { DaemonAddress } from "../../daemon/daemon-file.ts";
import { PmlError } from "../../base/errors.ts";
import { reachAsPerson } from "../as-person.ts";
import type { Answer, Command, Input, OptionValues } from "../command.ts";
import { confirmAtTerminal } from "../confirm-at-terminal.ts";
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
    if (verdict === undefined) return describe(await listReviews(await reachDaemon(input), subject));
    if (subject === undefined) {
      throw new PmlError("usage", `--${verdict === "accepted" ? "accept" : "refuse"} needs a tool or server`, {
        hint: "What there is to decide about: pml review",
      });
    }
    const decided = await decide(input, subject, verdict);
    return {
      data: decided.map((each) => ({ ...each, verdict })),
      text: decided.map((each) => `${verdict} ${each.tool} as ${shortHash(each)}`).join("\n"),
    };
  },
};

type Verdict = "accepted" | "refused";

function readVerdict({ accept, refuse }: OptionValues): Verdict | undefined {
  if (accept === true && refuse === true) throw new PmlError("usage", "--accept and --refuse exclude each other");
  if (accept === true) return "accepted";
  return refuse === true ? "refused" : undefined;
}

function listReviews(daemon: DaemonAddress, subject: string | undefined): Promise<readonly ReviewRow[]> {
  return callDaemon(daemon, routes.listReviews, { query: { subject } });
}

/** Shows the changes and decides about exactly these: a definition that came since is not the one that was seen. */
async function decide(input: Input, subject: string, verdict: Verdict): Promise<readonly ReviewRow[]> {
  const daemon = await reachAsPerson(input);
  const shown = await listReviews(daemon, subject);
  const { hash } = input.options;
  const wanted = shown.filter((each) => hash === undefined || each.hash.startsWith(String(hash)));
  if (wanted.length === 0) {
    const body = { subject, verdict, hash: String(hash ?? "none") };
    return callDaemon(daemon, routes.decideReviews, { body }); // the daemon says what is missing
  }
  await confirmAtTerminal({
    shown: wanted.map(describeReview).join("\n\n"),
    question: verdict === "accepted" ? "Take it as it is now?" : "Keep it from being offered?",
    elsewhere: `pml review ${subject} --${verdict === "accepted" ? "accept" : "refuse"}`,
  });
  const decided: ReviewRow[] = [];
  for (const each of wanted) {
    const body = { subject: each.tool, verdict, hash: each.hash };
    decided.push(...(await callDaemon(daemon, routes.decideReviews, { body })));
  }
  return decided;
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
