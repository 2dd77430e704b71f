import type { Command } from "commander";
import type { Registration } from "./registration.ts";

/** x */
export function addState(_program: Command, _registration: Registration): void {}
