/** Exit codes of the command line. Scripts rely on them: a number never changes its meaning. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  needsPerson: 4,
  toolError: 5,
  refused: 6,
  unreachable: 7,
  checkFailed: 8,
  interrupted: 130,
} as const;

interface ErrorKind {
  readonly id: `PML-E${number}`;
  readonly exit: number;
  /** One sentence for the reference page. */
  readonly meaning: string;
}

/** Every error a user can meet. The reference page is generated from this table. */
export const ERRORS = {
  config_not_found: {
    id: "PML-E1001",
    exit: EXIT.failed,
    meaning: "The configuration file that was asked for does not exist or cannot be read.",
  },
  config_syntax: {
    id: "PML-E1002",
    exit: EXIT.failed,
    meaning: "The configuration file is not valid JSON (comments and trailing commas are fine).",
  },
  config_invalid: {
    id: "PML-E1003",
    exit: EXIT.failed,
    meaning: "A configuration value is of the wrong kind, or a key is not known.",
  },
  store_busy: {
    id: "PML-E2001",
    exit: EXIT.failed,
    meaning: "Another process owns the data directory. Only one may open the embedded database.",
  },
  store_unusable: {
    id: "PML-E2002",
    exit: EXIT.failed,
    meaning: "The data directory cannot be created, read or written.",
  },
  engine_mismatch: {
    id: "PML-E2003",
    exit: EXIT.failed,
    meaning: "The data directory was written by another major version of the database engine.",
  },
  store_not_durable: {
    id: "PML-E2004",
    exit: EXIT.failed,
    meaning: "The start-up self-test found that a commit does not reach the disk.",
  },
  schema_newer: {
    id: "PML-E2005",
    exit: EXIT.failed,
    meaning: "The database was migrated by a newer PML than this one.",
  },
  disk_full: {
    id: "PML-E2006",
    exit: EXIT.failed,
    meaning: "There is no space left for the data directory.",
  },
  database_unreachable: {
    id: "PML-E2007",
    exit: EXIT.unreachable,
    meaning: "The PostgreSQL server does not answer.",
  },
  database_refused: {
    id: "PML-E2008",
    exit: EXIT.unreachable,
    meaning: "The PostgreSQL server answered, but does not let this user in.",
  },
  database_unsupported: {
    id: "PML-E2009",
    exit: EXIT.failed,
    meaning: "The PostgreSQL server is older than the oldest supported version.",
  },
  export_invalid: {
    id: "PML-E2010",
    exit: EXIT.failed,
    meaning: "An export file is truncated, altered, or not an export of PML.",
  },
  import_conflict: {
    id: "PML-E2011",
    exit: EXIT.failed,
    meaning: "A row to be imported contradicts one that is already there.",
  },
  secret_key_missing: {
    id: "PML-E2012",
    exit: EXIT.failed,
    meaning:
      "There is no usable key to seal secrets with. A shared database needs one in PML_SECRET_KEY or secrets.keyFile.",
  },
  secret_unreadable: {
    id: "PML-E2013",
    exit: EXIT.failed,
    meaning: "A stored secret was sealed with another key, or altered.",
  },
  tool_not_found: {
    id: "PML-E3001",
    exit: EXIT.notFound,
    meaning: "No tool has that name. `pml tools` lists them.",
  },
  server_not_found: {
    id: "PML-E3002",
    exit: EXIT.notFound,
    meaning: "No MCP server has that name in the configuration.",
  },
  capability_not_found: {
    id: "PML-E3003",
    exit: EXIT.notFound,
    meaning: "No capability has that name in the scope.",
  },
  version_not_found: {
    id: "PML-E3050",
    exit: EXIT.notFound,
    meaning: "The capability has no version like the one that was asked for.",
  },
  capability_archived: {
    id: "PML-E3051",
    exit: EXIT.failed,
    meaning: "The capability was archived and has to be restored before it can be used.",
  },
  capability_foreign: {
    id: "PML-E3052",
    exit: EXIT.refused,
    meaning: "The capability belongs to another project or author and can only be changed there, or by an admin.",
  },
  version_tag_taken: {
    id: "PML-E3053",
    exit: EXIT.failed,
    meaning: "Another version of the capability has that tag.",
  },
  capability_name_taken: {
    id: "PML-E3004",
    exit: EXIT.failed,
    meaning: "Another capability of the scope has that name.",
  },
  capability_name_invalid: {
    id: "PML-E3005",
    exit: EXIT.usage,
    meaning: "A name for a capability is not of the form namespace:action.",
  },
  capability_name_missing: {
    id: "PML-E3054",
    exit: EXIT.usage,
    meaning: "New programs need a name here (`naming.required`), and this one was given none.",
  },
  run_not_found: {
    id: "PML-E3006",
    exit: EXIT.notFound,
    meaning: "No run has that id. `pml runs` lists them.",
  },
  arguments_invalid: {
    id: "PML-E3007",
    exit: EXIT.usage,
    meaning: "Arguments of one of PML's own tools, or of a program, are missing or of the wrong type.",
  },
  limit_exceeded: {
    id: "PML-E3017",
    exit: EXIT.failed,
    meaning: "A text, value or piece of work is larger than a limit. The message names the limit and its setting.",
  },
  dag_invalid: {
    id: "PML-E3008",
    exit: EXIT.usage,
    meaning: "A DAG has tasks that depend on each other in a circle, or on tasks that are not there.",
  },
  nesting_too_deep: {
    id: "PML-E3009",
    exit: EXIT.failed,
    meaning: "Capabilities call each other more levels deep than is allowed.",
  },
  run_in_progress: {
    id: "PML-E3010",
    exit: EXIT.failed,
    meaning: "A run that somebody wants to go on with is being worked on already.",
  },
  run_not_stored: {
    id: "PML-E3055",
    exit: EXIT.failed,
    meaning: "A run ended, and the database did not take what it did. Its calls were made; it counts as failed.",
  },
  result_not_found: {
    id: "PML-E3011",
    exit: EXIT.notFound,
    meaning: "No result is kept under that workflow_id and task_id.",
  },
  result_expired: {
    id: "PML-E3012",
    exit: EXIT.notFound,
    meaning: "The result was kept for `results.ttlSeconds` and is gone.",
  },
  tool_changed: {
    id: "PML-E3013",
    exit: EXIT.needsPerson,
    meaning:
      "A tool's definition changed under its name and nobody has accepted it. `pml review` shows the difference.",
  },
  review_not_found: {
    id: "PML-E3014",
    exit: EXIT.notFound,
    meaning: "No changed tool of that name, or with that definition, waits for a review.",
  },
  login_needed: {
    id: "PML-E3015",
    exit: EXIT.needsPerson,
    meaning: "A remote server wants to know on whose behalf it is called. `pml login <server>` tells it.",
  },
  login_failed: {
    id: "PML-E3016",
    exit: EXIT.failed,
    meaning: "A login to a remote server was refused, not finished in time, or is not possible.",
  },
  daemon_unreachable: {
    id: "PML-E4001",
    exit: EXIT.unreachable,
    meaning: "No daemon runs for this PML_HOME, or it does not answer.",
  },
  daemon_start_failed: {
    id: "PML-E4002",
    exit: EXIT.unreachable,
    meaning: "The daemon was started in the background but did not become ready.",
  },
  daemon_version: {
    id: "PML-E4006",
    exit: EXIT.unreachable,
    meaning: "The daemon is of another version of PML than the command, and they do not understand each other.",
  },
  daemon_unproven: {
    id: "PML-E4007",
    exit: EXIT.unreachable,
    meaning: "Another process answers at the address of the daemon, or a daemon too old to prove itself.",
  },
  port_taken: {
    id: "PML-E4003",
    exit: EXIT.failed,
    meaning: "Another process listens on the port that was asked for.",
  },
  request_refused: {
    id: "PML-E4004",
    exit: EXIT.refused,
    meaning: "An HTTP request had no valid token, a foreign Host or Origin, or was too large.",
  },
  listen_refused: {
    id: "PML-E4005",
    exit: EXIT.failed,
    meaning: "PML was to listen on an address that other machines can reach, and `auth` is not configured.",
  },
  usage: {
    id: "PML-E5001",
    exit: EXIT.usage,
    meaning: "A command was called with unknown or missing words.",
  },
  file_unusable: {
    id: "PML-E5002",
    exit: EXIT.failed,
    meaning: "A file named on the command line cannot be read or written.",
  },
  permissions_broken: {
    id: "PML-E6001",
    exit: EXIT.refused,
    meaning: "The permissions cannot be read, so nothing is permitted until they can.",
  },
  permission_denied: {
    id: "PML-E6002",
    exit: EXIT.refused,
    meaning: "A rule denies a tool that a program would call. The program was not run.",
  },
  approval_not_found: {
    id: "PML-E6003",
    exit: EXIT.notFound,
    meaning: "No approval has that id.",
  },
  approval_decided: {
    id: "PML-E6004",
    exit: EXIT.failed,
    meaning: "An approval is decided once; this one has been, or its run has asked something else since.",
  },
  approval_expired: {
    id: "PML-E6005",
    exit: EXIT.failed,
    meaning: "Nobody decided in time (`approvals.ttlMinutes`). That is not a refusal: the agent may ask again.",
  },
  approval_required: {
    id: "PML-E6007",
    exit: EXIT.needsPerson,
    meaning: "A rule says that a person is asked about this tool. Once they have approved, the same call goes through.",
  },
  person_needed: {
    id: "PML-E6009",
    exit: EXIT.needsPerson,
    meaning:
      "A decision takes a person: a key pressed in a terminal, or the page of the address that the message names. Nothing was decided.",
  },
  approval_refused: {
    id: "PML-E6008",
    exit: EXIT.refused,
    meaning: "A person was asked about this call and refused it.",
  },
  rule_not_found: {
    id: "PML-E6006",
    exit: EXIT.notFound,
    meaning: "No remembered rule has that id.",
  },
  client_not_found: {
    id: "PML-E5003",
    exit: EXIT.notFound,
    meaning: "The MCP client is not set up on this machine, or has none of what was asked for.",
  },
  client_config_unusable: {
    id: "PML-E5004",
    exit: EXIT.failed,
    meaning: "The configuration of an MCP client cannot be read, or not changed without touching more than one entry.",
  },
  sandbox_unavailable: {
    id: "PML-E7001",
    exit: EXIT.failed,
    meaning: "The processes that run programs cannot be started, or the engine in them is not a safe version.",
  },
  server_json_invalid: {
    id: "PML-E8001",
    exit: EXIT.failed,
    meaning: "A `server.json` is not JSON or does not follow the rules of the official registry's schema.",
  },
  server_version_exists: {
    id: "PML-E8002",
    exit: EXIT.failed,
    meaning: "A version of an MCP server is registered already with another content; published versions do not change.",
  },
  signature_invalid: {
    id: "PML-E8003",
    exit: EXIT.refused,
    meaning: "A version's signature does not fit its content, or is not by a key that is trusted here.",
  },
  model_failed: {
    id: "PML-E8501",
    exit: EXIT.unreachable,
    meaning: "The language model that proposes names did not answer, or not in a usable form.",
  },
  internal: {
    id: "PML-E9001",
    exit: EXIT.failed,
    meaning: "Something went wrong that PML did not expect. Please report it.",
  },
} as const satisfies Record<string, ErrorKind>;
