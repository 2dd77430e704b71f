import { describe, expect, it } from "vitest";
import { type Addresses, type SharedLookUp, shareLookUps } from "../../src/database/names.ts";

const never = new AbortController().signal;
const here: Addresses = [{ address: "192.0.2.7", family: 4 }];

/** Shared look-ups over a resolver that answers when the test says so. */
function slowResolver(atOnce: number): {
  readonly names: SharedLookUp;
  readonly asked: string[];
  readonly answers: Map<string, PromiseWithResolvers<Addresses>>;
  readonly clock: { now: number };
} {
  const asked: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<Addresses>>();
  const clock = { now: 0 };
  const lookUp = (name: string): Promise<Addresses> => {
    asked.push(name);
    const answer = Promise.withResolvers<Addresses>();
    answers.set(name, answer);
    return answer.promise;
  };
  return { names: shareLookUps(lookUp, () => clock.now, atOnce, 5000), asked, answers, clock };
}

describe("shareLookUps", () => {
  it("asks for a name once, however many wait for it", async () => {
    const { names, asked, answers } = slowResolver(2);
    const all = Array.from({ length: 50 }, () => names("a", never));
    answers.get("a")?.resolve(here);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 50 }, () => here));
    expect(asked).toEqual(["a"]);
  });

  it("asks for no more names together than it may, and for the others in their order", async () => {
    const { names, asked, answers } = slowResolver(2);
    const all = ["a", "b", "c", "d"].map((name) => names(name, never));
    expect(asked).toEqual(["a", "b"]);
    answers.get("b")?.resolve(here);
    await all[1];
    expect(asked).toEqual(["a", "b", "c"]);
    answers.get("a")?.resolve(here);
    answers.get("c")?.resolve(here);
    await Promise.all([all[0], all[2]]);
    answers.get("d")?.resolve(here);
    await all[3];
    expect(asked).toEqual(["a", "b", "c", "d"]);
  });

  it("never begins a look-up that nobody waits for any more, and says so at once", async () => {
    const { names, asked, answers } = slowResolver(1);
    const impatient = new AbortController();
    const [first, second, third] = [names("a", never), names("b", impatient.signal), names("c", never)];
    impatient.abort(new Error("time is up"));
    await expect(second).rejects.toThrow("time is up");
    answers.get("a")?.resolve(here);
    await first;
    answers.get("c")?.resolve(here);
    await third;
    expect(asked).toEqual(["a", "c"]);
  });

  it("lets one give up while others go on waiting", async () => {
    const { names, answers } = slowResolver(1);
    const first = names("a", never);
    const impatient = new AbortController();
    const [one, other] = [names("b", impatient.signal), names("b", never)];
    impatient.abort(new Error("time is up"));
    await expect(one).rejects.toThrow("time is up");
    answers.get("a")?.resolve(here);
    await first;
    answers.get("b")?.resolve(here);
    expect(await other).toBe(here);
  });

  it("keeps an answer that came when nobody waited for the next one who asks", async () => {
    const { names, asked, answers } = slowResolver(1);
    const impatient = new AbortController();
    const one = names("a", impatient.signal);
    impatient.abort(new Error("time is up"));
    await expect(one).rejects.toThrow("time is up");
    answers.get("a")?.resolve(here);
    await answers.get("a")?.promise;
    expect(await names("a", never)).toBe(here);
    expect(asked).toEqual(["a"]);
  });

  it("keeps a failure for a short time, and then asks again", async () => {
    const { names, asked, answers, clock } = slowResolver(1);
    const first = names("a", never);
    answers.get("a")?.reject(new Error("ENOTFOUND"));
    await expect(first).rejects.toThrow("ENOTFOUND");
    clock.now = 4999;
    await expect(names("a", never)).rejects.toThrow("ENOTFOUND");
    expect(asked).toEqual(["a"]);
    clock.now = 5000;
    const again = names("a", never);
    answers.get("a")?.resolve(here);
    expect(await again).toBe(here);
    expect(asked).toEqual(["a", "a"]);
  });
});
