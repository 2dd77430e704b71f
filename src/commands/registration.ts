/** @module Defines the context that command groups are registered with. */
import type { Settings } from "../project/settings.ts";
import type { Terminal } from "./terminal.ts";

/** Context of a group of commands. */
export interface Registration {
  readonly settings: Settings;
  /** Opens the terminal with the options for colour and log. */
  readonly at: (options: { readonly color?: boolean; readonly log?: string }) => Terminal;
  /** Folders of --chdir, as the command line names them; a single one is the current folder by now. */
  readonly folders: () => readonly string[];
  /** Called with the exit code of the command that ran. */
  readonly done: (code: number) => void;
}
