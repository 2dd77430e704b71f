/** @module Reads the environment into settings, once: the only place that knows the names of its variables. */

/** A variable of the environment. */
interface Variable {
  readonly name: string;
  /** A sentence for the documentation. */
  readonly about: string;
}

/** A setting's key. */
export type SettingKey =
  | "username"
  | "password"
  | "token"
  | "tokenCommand"
  | "platformUrl"
  | "usersUrl"
  | "subscriptionId"
  | "caFile"
  | "stateHome"
  | "ci"
  | "noColor"
  | "term"
  | "browser"
  | "display"
  | "waylandDisplay"
  | "path"
  | "githubActions"
  | "githubStepSummary"
  | "githubWorkspace"
  | "ciProjectDir";

/** The variables that are read, by the key of their setting. */
export const variables: { readonly [key in SettingKey]: Variable } = {
  username: { name: "GRAPHFORM_USERNAME", about: "User name for the service; wins over a stored session." },
  password: { name: "GRAPHFORM_PASSWORD", about: "Password for the service." },
  token: { name: "GRAPHFORM_TOKEN", about: "Token for the users host, in place of the session's." },
  tokenCommand: {
    name: "GRAPHFORM_TOKEN_COMMAND",
    about: "Program with its arguments that prints that token; it runs without a shell.",
  },
  platformUrl: {
    name: "GRAPHFORM_PLATFORM_URL",
    about: "URL of the service; `--platform-url` wins over it.",
  },
  usersUrl: { name: "GRAPHFORM_USERS_URL", about: "URL of the users host; `--users-url` wins over it." },
  subscriptionId: {
    name: "GRAPHFORM_SUBSCRIPTION_ID",
    about: "Subscription of every tier; `--subscription` wins over it.",
  },
  caFile: {
    name: "GRAPHFORM_CA_FILE",
    about:
      "PEM file of the authority that the certificates of the service and its databases are checked with.",
  },
  stateHome: {
    name: "XDG_STATE_HOME",
    about: "Folder of the sessions that `login` stores; default `~/.local/state`.",
  },
  ci: { name: "CI", about: "Set in a pipeline: no colour, and nobody is asked." },
  noColor: { name: "NO_COLOR", about: "No colour." },
  term: { name: "TERM", about: "`dumb`: no colour." },
  browser: { name: "BROWSER", about: "Program that `platform open` opens a page with." },
  display: { name: "DISPLAY", about: "Set on a desktop with X11, where `platform open` can open a page." },
  waylandDisplay: { name: "WAYLAND_DISPLAY", about: "The same with Wayland." },
  path: { name: "PATH", about: "Folders that `xdg-open` is looked for in." },
  githubActions: {
    name: "GITHUB_ACTIONS",
    about: "`true`: `plan` and `validate` print annotations for GitHub.",
  },
  githubStepSummary: {
    name: "GITHUB_STEP_SUMMARY",
    about: "File of a step's summary, to which `plan` appends.",
  },
  githubWorkspace: {
    name: "GITHUB_WORKSPACE",
    about: "Root of the repository on GitHub, for paths in reports.",
  },
  ciProjectDir: { name: "CI_PROJECT_DIR", about: "The same on GitLab." },
};

/** The variables of a process, by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** The settings of a run. Their values live in closures: nothing that prints settings shows them. */
export interface Settings {
  /** Returns a value; an empty one counts as unset, because pipelines pass missing secrets as empty variables. */
  readonly get: (key: SettingKey) => string | undefined;
  /** Returns the whole environment: for secrets that name a variable, and for child processes. */
  readonly environment: () => Environment;
}

/** Reads an environment into settings. */
export function settingsOf(environment: Environment): Settings {
  const values = new Map(
    Object.entries(variables).map(([key, { name }]) => [key, environment[name]] as const),
  );
  return {
    get: (key) => {
      const value = values.get(key);
      return value === "" ? undefined : value;
    },
    environment: () => environment,
  };
}
