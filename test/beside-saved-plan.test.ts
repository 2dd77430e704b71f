import { describe, expect, it } from "vitest";
import { differencesLeft, splitBySaved } from "../src/reconcile/verify.ts";
import { toyWorld } from "./support/toy-world.ts";

describe("what differs after a saved plan was applied", () => {
  it("and was changed since it was made is said, and is no fault of the service", async () => {
    const world = toyWorld();
    const first = { a: { colour: "red", memory: "1GB" }, b: { colour: "green" }, c: { colour: "blue" } };
    await world.run(first);
    await world.drive(world.clock.sleep(3_600_000));
    const idOf = async (name: string): Promise<string> =>
      (await world.state()).resources[`toys.${name}`]?.id ?? "";
    const toys = { ...first, a: { colour: "red", memory: "2GB" } };
    const saved = await world.plan(toys);
    world.service.change(await idOf("a"), { colour: "by hand" });
    world.service.change(await idOf("b"), { colour: "by hand" });
    world.service.remove(await idOf("c"));
    const steps = await world.apply(saved, toys);
    const { promised, others } = splitBySaved(saved, await world.plan(toys));
    expect(differencesLeft(promised, steps)).toEqual([]);
    const since = "changed since this plan was made, and left as it is";
    expect(others).toEqual([
      { address: "toys.a", message: `${since}: colour; graphform plan shows it` },
      { address: "toys.b", message: `${since}: colour; graphform plan shows it` },
      { address: "toys.c", message: expect.stringContaining("is gone: it was deleted outside graphform") },
    ]);
  });

  it("and that it had to settle is still an error", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red", memory: "1GB" } });
    const toys = { a: { colour: "red", memory: "2GB" } };
    const saved = await world.plan(toys);
    const steps = await world.apply(saved, toys);
    const [{ id } = { id: "" }] = Object.values((await world.state()).resources);
    world.service.change(id, { memory: "3GB" });
    const { promised, others } = splitBySaved(saved, await world.plan(toys));
    expect(differencesLeft(promised, steps)).toMatchObject([
      { address: "toys.a", field: { path: "memory", before: "3GB", after: "2GB" } },
    ]);
    expect(others).toEqual([]);
  });

  it("and that it left out by --target is not called a change of somebody", async () => {
    const world = toyWorld();
    const saved = await world.plan(
      { a: { colour: "red" }, b: { colour: "green" } },
      { options: { targets: ["toys.a"] } },
    );
    await world.apply(saved, { a: { colour: "red" } });
    const { others } = splitBySaved(
      saved,
      await world.plan({ a: { colour: "red" }, b: { colour: "green" } }),
    );
    expect(others).toEqual([
      { address: "toys.b", message: "not part of this plan: does not exist yet; graphform plan shows it" },
    ]);
  });
});
