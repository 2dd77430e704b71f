import type { Hide } from "../hosting/service-options.ts";
import type { Project } from "./project.ts";

/** What a service is found by. */
export interface ServiceTarget extends Pick<Project, "header" | "profile" | "folder"> {
  /** Hides the secrets of the run in what the service says in its own words. */
  readonly hide?: Hide;
}
