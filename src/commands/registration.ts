import type { Terminal } from "./terminal.ts";

/** What a group of commands is added with. */
export interface Registration {
  readonly env: NodeJS.ProcessEnv;
  /** The terminal as the options want it. */
  readonly at: (options: { readonly color?: boolean; readonly log?: string }) => Terminal;
  /** Called with the exit code of the command that ran. */
  readonly done: (code: number) => void;
}
