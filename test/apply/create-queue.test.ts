import { describe, expect, it } from "vitest";
import { createQueue } from "../../src/apply/creates/class-state.ts";

describe("the queue of a class", () => {
  it("lets in a whole group at once, in the order in which it came", () => {
    const queue = createQueue<string>();
    for (const name of ["a1", "b1", "a2", "b2"]) queue.add(name.slice(0, 1), name);
    const inFlight: string[] = [];
    const isOfGroup = (name: string): boolean => inFlight.every((other) => other[0] === name[0]);
    queue.admit(64, isOfGroup, (name) => inFlight.push(name));
    expect(inFlight).toEqual(["a1", "a2"]);
    expect(queue.first()).toBe("b1");
    expect(queue.drain()).toEqual(["b1", "b2"]);
    expect(queue.isEmpty).toBe(true);
  });

  it("asks the same number of questions whether a hundred groups wait or a thousand", () => {
    const questions = (count: number): number => {
      const queue = createQueue<number>();
      for (let group = 0; group < count; group++) queue.add(String(group), group);
      let asked = 0;
      const refuse = (): boolean => {
        asked += 1;
        return false;
      };
      queue.admit(64, refuse, () => expect.unreachable());
      return asked;
    };
    expect(questions(100)).toBe(64);
    expect(questions(1000)).toBe(questions(100));
  });
});
