import { expect, test } from "vitest";
import type { Principal } from "../../auth/principal.ts";
import { Accounts } from "./accounts.ts";
import { LimitReached } from "./principal-limits.ts";

const limits = { requestsPerMinute: 60, concurrentRequests: 2, sessions: 1, streams: 1, subscriptions: 3 };

function principal(id: string): Principal {
  return { id, subject: id, issuer: "https://issuer.example", clientId: "test", scopes: [] };
}

function setUp(): { accounts: Accounts; reached: string[]; clock: { now: number } } {
  const reached: string[] = [];
  const clock = { now: 0 };
  const accounts = new Accounts({ limits, onReached: (key) => reached.push(key), now: () => clock.now });
  return { accounts, reached, clock };
}

function admitted(accounts: Accounts, who: Principal | undefined, times: number): number {
  let count = 0;
  for (let each = 0; each < times; each += 1) {
    try {
      accounts.of(who).admit()[Symbol.dispose]();
      count += 1;
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
    }
  }
  return count;
}

test("a principal may use a minute's worth at once, and then as fast as it comes back", () => {
  const { accounts, reached, clock } = setUp();
  expect(admitted(accounts, principal("a"), 70)).toBe(60);
  expect(reached).toEqual(Array.from({ length: 10 }, () => "limits.requestsPerMinute"));
  expect(admitted(accounts, principal("b"), 1)).toBe(1);
  clock.now += 3_500;
  expect(admitted(accounts, principal("a"), 10)).toBe(3);
  clock.now += 3_600_000;
  expect(admitted(accounts, principal("a"), 70)).toBe(60);
});

test("a refusal names the key, its value and when to try again", () => {
  const { accounts, clock } = setUp();
  admitted(accounts, principal("a"), 60);
  clock.now += 100;
  expect(() => accounts.of(principal("a")).admit()).toThrow(
    expect.objectContaining({
      message: "Too many requests; the next one can be made in 1 s. The limit is limits.requestsPerMinute (60)",
      retrySeconds: 1,
      data: { limit: "limits.requestsPerMinute", value: 60 },
    }),
  );
});

test("the owner is not limited in rate, only in what is under way at once", () => {
  const { accounts } = setUp();
  expect(admitted(accounts, undefined, 1_000)).toBe(1_000);
  const { requests } = accounts.of(undefined);
  const first = requests.take();
  requests.take();
  expect(() => requests.take()).toThrow("limits.concurrentRequests (2)");
  expect(admitted(accounts, undefined, 1)).toBe(1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  requests.take();
  expect(() => requests.take()).toThrow("limits.concurrentRequests (2)");
});

test("sessions and streams are counted over all principals", () => {
  const { accounts } = setUp();
  const session = accounts.of(principal("a")).sessions.take();
  accounts.of(principal("b")).sessions.take();
  accounts.of(principal("b")).streams.take();
  expect(() => accounts.of(principal("a")).sessions.take()).toThrow("limits.sessions (1)");
  expect([accounts.count("sessions"), accounts.count("streams")]).toEqual([2, 1]);
  session[Symbol.dispose]();
  expect(accounts.count("sessions")).toBe(1);
});

test("several places are taken together or not at all", () => {
  const watched = setUp().accounts.quota("subscriptions");
  watched.take(2);
  expect(() => watched.take(2)).toThrow("limits.subscriptions (3)");
  watched.take(1);
  expect(watched.taken).toBe(3);
});

test("principals with nothing open are forgotten when there are many, the others keep their accounts", () => {
  const { accounts, clock } = setUp();
  const busy = accounts.of(principal("busy"));
  busy.sessions.take();
  for (let each = 0; each < 2_000; each += 1) accounts.of(principal(`p${each}`));
  clock.now += 60_000;
  accounts.of(principal("new"));
  expect(accounts.of(principal("busy"))).toBe(busy);
  admitted(accounts, principal("spent"), 60);
  for (let each = 0; each < 2_000; each += 1) accounts.of(principal(`q${each}`));
  expect(admitted(accounts, principal("spent"), 1)).toBe(0);
});
