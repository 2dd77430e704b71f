/** @module Reads controller.yaml, and keeps the last version of it that has no mistake. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { GraphformError } from "../../index.ts";
import type { ControllerConfig, LiveConfig } from "./config.ts";
import { parseConfig } from "./parse-config.ts";

/** Reads a configuration. Throws `config-unreadable` and `config-invalid`, with file, line and column. */
export async function readConfig(file: string): Promise<ControllerConfig> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new GraphformError("config-unreadable", `the configuration ${file} cannot be read`, {
      hint: "name a readable file with --config",
      exitCode: 3,
      cause,
    });
  });
  return parseConfig(text, file, (path) => resolve(dirname(file), path));
}

/** Opens the configuration of a file, which can be read again; one that is given as a value stays. Throws as `readConfig` does. */
export async function openConfig(source: string | ControllerConfig): Promise<LiveConfig> {
  let config = typeof source === "string" ? await readConfig(source) : source;
  return {
    current: () => config,
    async reload() {
      if (typeof source !== "string") return undefined;
      try {
        config = await readConfig(source);
        return undefined;
      } catch (error) {
        if (error instanceof GraphformError) return error;
        throw error;
      }
    },
  };
}
