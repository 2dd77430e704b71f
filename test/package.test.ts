import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LockPackages, missingBuilds } from "../scripts/complete-lock.ts";

const root = join(import.meta.dirname, "..");
const lock: { packages: LockPackages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

describe("package-lock.json", () => {
  it("names the builds of every platform, or else `npm ci` refuses it (npm run complete-lock)", () => {
    expect(missingBuilds(lock.packages)).toEqual({});
  });

  it("would be found incomplete", () => {
    const name = "@biomejs/cli-linux-arm64-musl";
    const missing = missingBuilds({
      "node_modules/a": { version: "1.0.0", dev: true, optionalDependencies: { [name]: "1.2.3" } },
    });
    expect(missing).toEqual({
      [`node_modules/${name}`]: {
        version: "1.2.3",
        cpu: ["arm64"],
        libc: ["musl"],
        dev: true,
        optional: true,
        os: ["linux"],
      },
    });
  });
});
