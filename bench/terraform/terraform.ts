import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Case, Taken } from "../measure.ts";
import { startNode } from "../start-service.ts";
import { type Form, writeProject } from "./project.ts";

/** Terraform of this machine, with the bench's provider. */
export interface Terraform {
  /** Plans with nothing to do of what a manifest declares. */
  plans(manifest: string, url: string, at: string): readonly Case[];
  /** An apply that creates what a manifest declares, with one block for each. */
  apply(manifest: string, url: string): Case;
  end(): void;
}

const least = 8;
const options = ["-input=false", "-parallelism=64"];

/**
 * Starts the provider, which Terraform then finds running, so that neither its start nor its download counts; a process that has
 * answered before is as quick as it can be. Says that Terraform is left out if it is not installed, and gives nothing.
 */
export async function startTerraform(folder: string): Promise<Terraform | undefined> {
  if (spawnSync("terraform", ["version"], { stdio: "ignore" }).error !== undefined) {
    console.log("terraform is not in the PATH, and is left out");
    return undefined;
  }
  const { child, line } = await startNode(join(import.meta.dirname, "provider.ts"));
  const settings = join(folder, "terraform.rc");
  writeFileSync(settings, "");
  const env = {
    TF_REATTACH_PROVIDERS: line,
    TF_CLI_CONFIG_FILE: settings,
    TF_VAR_password: "not-a-secret",
    CHECKPOINT_DISABLE: "1",
  };
  const prepared = (
    manifest: string,
    url: string,
    form: Form,
    isApplied: boolean,
  ): Omit<Case, "name" | "args"> => {
    const cwd = mkdtempSync(join(folder, "terraform-"));
    writeProject(cwd, manifest, form, url, isApplied);
    return { program: "terraform", cwd, env, ...(child.pid === undefined ? {} : { helper: child.pid }) };
  };
  return {
    plans: (manifest, url, at) =>
      (["blocks", "for_each"] as const).map((form) => ({
        name: `terraform plan ${at}, ${form}`,
        args: ["plan", "-detailed-exitcode", ...options],
        ...prepared(manifest, url, form, true),
      })),
    apply: (manifest, url) => ({
      name: "terraform apply",
      args: ["apply", "-auto-approve", ...options],
      ...prepared(manifest, url, "blocks", false),
    }),
    end: () => child.stdin?.end(),
  };
}

/** One line: how many times as long as graphform Terraform took, beside the least for a thousand, and the processor time of both. */
export function leastRatio(
  taken: ReadonlyMap<string, Taken>,
  name: string,
  than: string,
  count: number,
): string {
  const none: Taken = { time: Number.NaN, processor: Number.NaN, helper: Number.NaN };
  const [own, other] = [taken.get(name) ?? none, taken.get(than) ?? none];
  const ratio = own.time / other.time;
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const times = `${seconds(own.time)} / ${seconds(other.time)} s`;
  const processor = `processor time ${seconds(own.processor)} and ${seconds(own.helper)} of the provider / ${seconds(other.processor)} s`;
  const verdict = count < 1000 ? "" : ratio >= least ? ` (at least ${least})` : ` (UNDER ${least})`;
  return `${ratio.toFixed(2).padStart(6)} ${name} / ${than}: ${times}, ${processor}${verdict}`;
}
