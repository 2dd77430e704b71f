import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a writer that is killed", () => {
  it("leaves a state with everything that was durable, so does its backup, and a lock that the next one takes", async () => {
    const folder = temporaryFolder("state");
    const path = join(folder, "shop.state.json");
    const script = new URL("children/writer.ts", import.meta.url).pathname;
    let last = 0;
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(process.execPath, [script, path], { stdio: ["ignore", "pipe", "inherit"] });
      let printed = "";
      child.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.length > 100 + 37 * round) child.kill("SIGKILL");
      });
      await once(child, "close");
      const durable = Number(printed.trimEnd().split("\n").at(-1));
      expect(durable).toBeGreaterThan(last);
      const state = await createFileStore({ path, name: "shop" }).read();
      const copied = join(temporaryFolder("state"), "shop.state.json");
      await copyFile(`${path}.backup`, copied);
      await copyFile(`${path}.log`, `${copied}.log`);
      const backup = await createFileStore({ path: copied, name: "shop" }).read();
      expect(state?.serial).toBeGreaterThanOrEqual(durable);
      expect(state?.serial).toBeLessThanOrEqual(durable + 1);
      expect(backup?.serial).toBe(state?.serial);
      last = state?.serial ?? 0;
    }
    const lock = await createFileStore({ path }).lock("apply", { clock: systemClock });
    await lock.release();
    expect((await readdir(folder)).sort()).toEqual(
      ["", ".backup", ".log"].map((ending) => `shop.state.json${ending}`),
    );
  }, 240_000);
});
