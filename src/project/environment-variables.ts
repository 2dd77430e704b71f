/** @module Names the variables of the environment that are read, and says what each is for. */

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
  | "tokenCommandEnv"
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
  | "githubOutput"
  | "githubWorkspace"
  | "state"
  | "stateUsername"
  | "statePassword"
  | "stateToken"
  | "statePostgresUrl"
  | "stateToUsername"
  | "stateToPassword"
  | "stateToToken"
  | "stateToPostgresUrl"
  | "stateLease"
  | "awsAccessKeyId"
  | "awsSecretAccessKey"
  | "awsSessionToken"
  | "awsRegion"
  | "awsDefaultRegion"
  | "awsWebIdentityTokenFile"
  | "awsRoleArn"
  | "awsRoleSessionName"
  | "awsEndpointUrl"
  | "pgHost"
  | "pgPort"
  | "pgDatabase"
  | "pgUser"
  | "pgPassword"
  | "pgSslMode"
  | "pgSslRootCert"
  | "pgSslCert"
  | "pgSslKey"
  | "ciJobToken"
  | "githubToken"
  | "githubApiUrl"
  | "githubRepository"
  | "githubRef"
  | "githubEventPath"
  | "githubServerUrl"
  | "githubRunId"
  | "githubSha"
  | "gitlabCi"
  | "gitlabToken"
  | "ciApiV4Url"
  | "ciProjectId"
  | "ciProjectUrl"
  | "ciCommitBranch"
  | "ciMergeRequestRefPath"
  | "ciMergeRequestIid"
  | "ciMergeRequestProjectId"
  | "ciJobUrl"
  | "ciCommitSha"
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
  tokenCommandEnv: { name: "GRAPHFORM_TOKEN_COMMAND_ENV", about: "Variables that it gets, by name: `A,B`." },
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
      "PEM file of the authority that the certificates of the service, its databases and the state's store are checked with.",
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
  githubOutput: {
    name: "GITHUB_OUTPUT",
    about: "File of a step's outputs, to which `plan`, `drift`, `apply` and `validate` append.",
  },
  githubWorkspace: {
    name: "GITHUB_WORKSPACE",
    about: "Root of the repository on GitHub, for paths in reports.",
  },
  githubToken: {
    name: "GITHUB_TOKEN",
    about:
      "Token with which `ci comment` and `ci issue` write, and `apply` reads the newest commit; it goes to GitHub alone.",
  },
  githubApiUrl: {
    name: "GITHUB_API_URL",
    about: "Address of GitHub's API; default `https://api.github.com`.",
  },
  githubRepository: { name: "GITHUB_REPOSITORY", about: "The repository on GitHub: `owner/name`." },
  githubRef: {
    name: "GITHUB_REF",
    about: "`refs/pull/N/merge`: the pull request that `ci comment` writes to.",
  },
  githubEventPath: { name: "GITHUB_EVENT_PATH", about: "File with the event that began the run." },
  githubServerUrl: { name: "GITHUB_SERVER_URL", about: "Address of GitHub, for the link to the run." },
  githubRunId: { name: "GITHUB_RUN_ID", about: "Id of the run, for the link to it." },
  githubSha: { name: "GITHUB_SHA", about: "The commit that the run is about." },
  gitlabCi: { name: "GITLAB_CI", about: "`true`: `ci comment` and `ci issue` write to GitLab." },
  gitlabToken: {
    name: "GITLAB_TOKEN",
    about:
      "Token with the scope `api` with which `ci comment` and `ci issue` write; it goes to GitLab's API alone.",
  },
  ciApiV4Url: {
    name: "CI_API_V4_URL",
    about: "Address of GitLab's API; `CI_JOB_TOKEN` goes to a state there alone.",
  },
  ciProjectId: { name: "CI_PROJECT_ID", about: "The project on GitLab." },
  ciProjectUrl: {
    name: "CI_PROJECT_URL",
    about: "Address of the project: `apply` asks it whether the commit of a saved plan is still the newest.",
  },
  ciCommitBranch: { name: "CI_COMMIT_BRANCH", about: "The branch that the job is about." },
  ciMergeRequestRefPath: { name: "CI_MERGE_REQUEST_REF_PATH", about: "The ref of the merge request." },
  ciMergeRequestProjectId: {
    name: "CI_MERGE_REQUEST_PROJECT_ID",
    about: "The project of the merge request; another one than CI_PROJECT_ID in the pipeline of a fork.",
  },
  ciMergeRequestIid: {
    name: "CI_MERGE_REQUEST_IID",
    about: "The merge request that `ci comment` writes to.",
  },
  ciJobUrl: { name: "CI_JOB_URL", about: "Link to the job." },
  ciCommitSha: { name: "CI_COMMIT_SHA", about: "The commit that the job is about." },
  ciProjectDir: { name: "CI_PROJECT_DIR", about: "The same on GitLab." },
  state: {
    name: "GRAPHFORM_STATE",
    about: "Location of the state, as `--state` takes it; `--state` wins over it.",
  },
  stateUsername: { name: "GRAPHFORM_STATE_USERNAME", about: "User name for a state behind HTTP." },
  statePassword: { name: "GRAPHFORM_STATE_PASSWORD", about: "Password for it." },
  stateToken: {
    name: "GRAPHFORM_STATE_TOKEN",
    about: "Bearer token for it, in place of user name and password.",
  },
  statePostgresUrl: {
    name: "GRAPHFORM_STATE_POSTGRES_URL",
    about: "URL of the database of a state, with user and password.",
  },
  stateToUsername: {
    name: "GRAPHFORM_STATE_TO_USERNAME",
    about: "User name for the other end of a move, where that is another HTTP host.",
  },
  stateToPassword: { name: "GRAPHFORM_STATE_TO_PASSWORD", about: "Password for it." },
  stateToToken: { name: "GRAPHFORM_STATE_TO_TOKEN", about: "Bearer token for it." },
  stateToPostgresUrl: {
    name: "GRAPHFORM_STATE_TO_POSTGRES_URL",
    about: "URL of the database at the other end of a move, with user and password.",
  },
  stateLease: {
    name: "GRAPHFORM_STATE_LEASE",
    about:
      "Time after which others may take over the lock of a run that has died, like `60s`, the default; from `1s` to `24h`.",
  },
  awsAccessKeyId: { name: "AWS_ACCESS_KEY_ID", about: "Access key for a state in S3." },
  awsSecretAccessKey: { name: "AWS_SECRET_ACCESS_KEY", about: "Secret of that key." },
  awsSessionToken: {
    name: "AWS_SESSION_TOKEN",
    about: "Session token that belongs to that key, where it is a temporary one.",
  },
  awsRegion: { name: "AWS_REGION", about: "Region of the bucket where the manifest names none." },
  awsDefaultRegion: { name: "AWS_DEFAULT_REGION", about: "The same, where `AWS_REGION` is not set." },
  awsWebIdentityTokenFile: {
    name: "AWS_WEB_IDENTITY_TOKEN_FILE",
    about: "File with the token that is exchanged for an access key, as in EKS.",
  },
  awsRoleArn: { name: "AWS_ROLE_ARN", about: "Role that this token is exchanged for." },
  awsRoleSessionName: { name: "AWS_ROLE_SESSION_NAME", about: "Name of that session." },
  awsEndpointUrl: {
    name: "AWS_ENDPOINT_URL_S3",
    about: "Address of another S3 server, where the manifest names none.",
  },
  pgHost: { name: "PGHOST", about: "Host of the database of a state, where the manifest names none." },
  pgPort: { name: "PGPORT", about: "Its port." },
  pgDatabase: { name: "PGDATABASE", about: "Its database." },
  pgUser: { name: "PGUSER", about: "User for it." },
  pgPassword: { name: "PGPASSWORD", about: "Password for it." },
  pgSslMode: {
    name: "PGSSLMODE",
    about: "How the connection is secured: `disable`, `require`, `verify-ca` or `verify-full`.",
  },
  pgSslRootCert: {
    name: "PGSSLROOTCERT",
    about: "PEM file of the authority that its certificate is checked with.",
  },
  pgSslCert: { name: "PGSSLCERT", about: "PEM file of the certificate that this user signs in with." },
  pgSslKey: { name: "PGSSLKEY", about: "PEM file of that certificate's key." },
  ciJobToken: {
    name: "CI_JOB_TOKEN",
    about:
      "Token of a job on GitLab: used for a state at that GitLab, as `gitlab-ci-token`, where nothing else is set, and to read the newest commit.",
  },
};
