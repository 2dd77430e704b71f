import { expect, it } from "vitest";
import { toyWorld } from "../support/toy-world.ts";

it("what was just created, shown, and deleted at once is not waited for as if it were hidden", async () => {
  const world = toyWorld({ work: 0, latency: 10 });
  await world.run({ a: { colour: "red" } });
  const { steps } = await world.run({}, { destroying: true });
  expect(steps).toMatchObject([{ operation: "delete", result: "done" }]);
  // Ms; a hidden one would be waited for until lists must have it, 30 s after its creation.
  expect(steps[0]?.elapsed).toBeLessThan(1000);
});
