package config

import "sync"

// The environment names of the settings. They are a contract.
const (
	EnvPort             = "PORT"
	EnvAddr             = "LIAISON_ADDR"
	EnvAdminAddr        = "LIAISON_ADMIN_ADDR"
	EnvStateDir         = "LIAISON_STATE_DIR"
	EnvPublicURL        = "LIAISON_PUBLIC_URL"
	EnvAPIToken         = "LIAISON_API_TOKEN"
	EnvAPITokens        = "LIAISON_API_TOKENS"
	EnvBotName          = "LIAISON_BOT_NAME"
	EnvModel            = "LIAISON_MODEL"
	EnvAgentDir         = "LIAISON_AGENT_DIR"
	EnvApproversSlack   = "LIAISON_APPROVERS_SLACK"
	EnvApproversGitHub  = "LIAISON_APPROVERS_GITHUB"
	EnvMaxRunningTurns  = "LIAISON_MAX_RUNNING_TURNS"
	EnvTurnTimeout      = "LIAISON_TURN_TIMEOUT"
	EnvTurnTokens       = "LIAISON_TURN_TOKENS"
	EnvTurnToolCalls    = "LIAISON_TURN_TOOL_CALLS"
	EnvTurnCost         = "LIAISON_TURN_COST"
	EnvModelPrices      = "LIAISON_MODEL_PRICES"
	EnvRetainBodies     = "LIAISON_RETAIN_BODIES"
	EnvRetainDeliveries = "LIAISON_RETAIN_DELIVERIES"
	EnvRetainWorkspaces = "LIAISON_RETAIN_WORKSPACES"
	EnvRetainSessions   = "LIAISON_RETAIN_SESSIONS"
	EnvRetainAudit      = "LIAISON_RETAIN_AUDIT"
	EnvRedactPatterns   = "LIAISON_REDACT_PATTERNS"
	EnvLogLevel         = "LIAISON_LOG_LEVEL"
	EnvLogFormat        = "LIAISON_LOG_FORMAT"
	EnvGitHubAppID      = "GITHUB_APP_ID"
	EnvGitHubKey        = "GITHUB_PRIVATE_KEY"
	EnvGitHubKeyPath    = "GITHUB_PRIVATE_KEY_PATH"
	EnvGitHubSecret     = "GITHUB_WEBHOOK_SECRET"
	EnvGitHubAPIURL     = "GITHUB_API_URL"
	EnvGitHubGraphQLURL = "GITHUB_GRAPHQL_URL"
	EnvGitHubSweep      = "LIAISON_GITHUB_SWEEP"
	EnvGitHubReconcile  = "LIAISON_GITHUB_RECONCILE"
	EnvGitHubWritePause = "LIAISON_GITHUB_WRITE_PAUSE"
	EnvGitHubBots       = "LIAISON_GITHUB_BOTS"
	EnvGitHubPerActor   = "LIAISON_GITHUB_ACTOR_PER_DAY"
	EnvGitHubPerPull    = "LIAISON_GITHUB_PULL_PER_DAY"
	EnvGitHubPerRepo    = "LIAISON_GITHUB_REPOSITORY_PER_DAY"
	EnvWebhookProxy     = "WEBHOOK_PROXY_URL"
	EnvSlackSecret      = "SLACK_SIGNING_SECRET"
	EnvSlackBotToken    = "SLACK_BOT_TOKEN"
	EnvSlackAppToken    = "SLACK_APP_TOKEN"
	EnvSlackClientID    = "SLACK_CLIENT_ID"
	EnvSlackClientKey   = "SLACK_CLIENT_SECRET"
	EnvSlackAPIURL      = "SLACK_API_URL"
	EnvSlackWorkspaces  = "LIAISON_SLACK_WORKSPACES"
	EnvSlackThreads     = "LIAISON_SLACK_THREADS_MENTION_REQUIRED"
	EnvSlackDirect      = "LIAISON_SLACK_DM_SESSION"
	EnvSlackReply       = "LIAISON_SLACK_REPLY"
	EnvSlackWatch       = "LIAISON_SLACK_WATCH"
	EnvSlackGuests      = "LIAISON_SLACK_ALLOW_GUESTS"
	EnvSlackExternal    = "LIAISON_SLACK_ALLOW_EXTERNAL"
	EnvSlackChannels    = "LIAISON_SLACK_CHANNELS"
	EnvSlackUsers       = "LIAISON_SLACK_USERS"
	EnvSlackBots        = "LIAISON_SLACK_BOTS"
	EnvSlackReactions   = "LIAISON_SLACK_REACTIONS"
	EnvPeople           = "LIAISON_PEOPLE"
	EnvEncryptionKey    = "LIAISON_ENCRYPTION_KEY"
	EnvBridgeBin        = "CURSOR_SDK_BRIDGE_BIN"
	EnvBridgeDir        = "LIAISON_BRIDGE_DIR"
	EnvCursorAPIKey     = "CURSOR_API_KEY"
	EnvOpenAIBaseURL    = "OPENAI_BASE_URL"
	EnvOpenAIAPIKey     = "OPENAI_API_KEY"
)

// Setting declares one setting.
type Setting struct {
	// Env is its name in the environment.
	Env string
	// Key is its place in liaison.yaml, parts joined by dots; empty when it is
	// read from the environment only.
	Key string
	// Default is what an unset or empty one means.
	Default string
	// Secret ones are masked everywhere and have no default.
	Secret bool
	// List ones may be a sequence in the file; in the environment they are
	// separated by commas, or by line feeds where Lines is set.
	List  bool
	Lines bool
	// Fields are the names, in the file, of what the items of a list are made of;
	// in the environment they come in this order, with Separator between them.
	// Those at the end may be left out.
	Fields    []string
	Separator string
	// Doc says what it does, for "liaison help config".
	Doc string
}

// between is what stands between the items of a list.
func (s Setting) between() string {
	if s.Lines {
		return "\n"
	}
	return ","
}

// Settings returns every setting, in the order in which a person reads them.
func Settings() []Setting {
	return []Setting{
		{Env: EnvAddr, Key: "addr", Default: "127.0.0.1:8080",
			Doc: "Host and port to listen on. The container image listens on 0.0.0.0:8080."},
		{Env: EnvPort,
			Doc: "Port to listen on, as hosting platforms set it. It replaces the port of LIAISON_ADDR; the host stays."},
		{Env: EnvAdminAddr, Key: "adminAddr", Default: "127.0.0.1:8081",
			Doc: "Host and port of the listener for operators: /metrics, /debug/pprof/ and /healthz, without authentication. Keep it on the loopback interface or in a private network. \"off\" turns it off."},
		{Env: EnvStateDir, Key: "stateDir", Default: ".liaison",
			Doc: "Directory for everything that is remembered: the database, sessions and workspaces. One process at a time; put it on a local disk, not on NFS."},
		{Env: EnvPublicURL, Key: "publicURL",
			Doc: "Where the service is reached from outside, such as https://liaison.example.com."},
		{Env: EnvAPIToken, Key: "apiToken", Secret: true,
			Doc: "The operator's bearer token for /v1. Without one, only direct callers on the loopback interface are admitted."},
		{Env: EnvAPITokens, Key: "apiTokens", Secret: true, List: true,
			Doc: "Bearer tokens of named callers of /v1, each as name:token; they see only their own sessions. A name has up to 63 of a-z, 0-9, dot, underscore and hyphen; a token at least 16 characters. Names and tokens are unique."},
		{Env: EnvBotName, Key: "botName",
			Doc: "What people write after @ to speak to Liaison on GitHub. Unset takes the App's own name in URLs. Up to 39 letters, digits and hyphens."},
		{Env: EnvModel, Key: "model",
			Doc: "Model to ask for. Unset takes the first that the bridge lists."},
		{Env: EnvAgentDir, Key: "agentDir",
			Doc: "Folder of the agent: its instructions, skills, tools and who approves what. Unset runs the agent that is built in. A change is picked up by the next turn."},
		{Env: EnvApproversSlack, Key: "approvers.slack", List: true,
			Doc: "Who may decide about calls of tools that need an approval, where the agent's own settings have no approvals.approvers: ids of people in Slack (U0123456789) and of user groups (S0123456789). Where nobody is named anywhere, only the operator may."},
		{Env: EnvApproversGitHub, Key: "approvers.github", List: true,
			Doc: "The same for GitHub: logins, and teams as organisation/team."},
		{Env: EnvMaxRunningTurns, Key: "limits.maxRunningTurns", Default: "4",
			Doc: "How many agents run at once. More wait in line, fairly over sessions."},
		{Env: EnvTurnTimeout, Key: "limits.turnTimeout", Default: "30m",
			Doc: "Longest time that one turn may take; one that is tried again begins anew, and waiting does not count. A turn that takes longer ends as failed and says so."},
		{Env: EnvTurnTokens, Key: "limits.turnTokens", Default: "5000000",
			Doc: "Most tokens, in and out together, that one turn may use. A turn that has used them ends as failed and says so, unless it is done already. 0 means no limit."},
		{Env: EnvTurnToolCalls, Key: "limits.turnToolCalls", Default: "300",
			Doc: "Most tools that the agent may call in one turn. 0 means no limit."},
		{Env: EnvTurnCost, Key: "limits.turnCost", Default: "10",
			Doc: "Most US dollars that one turn may cost, where LIAISON_MODEL_PRICES has the model's price. 0 means no limit."},
		{Env: EnvModelPrices, Key: "modelPrices", List: true,
			Doc: "What models cost, each as model=input/output/cacheRead/cacheWrite in US dollars per million tokens, such as my-model=3/15. The last two may be left out; the input's price is then taken for them."},
		{Env: EnvRetainBodies, Key: "retention.bodies", Default: "7d",
			Doc: "How long the body of a settled delivery is kept, such as 7d or 36h. While it is kept the delivery can be replayed. 0 keeps it for ever."},
		// GitHub offers a redelivery for three days
		// (https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
		{Env: EnvRetainDeliveries, Key: "retention.deliveries", Default: "30d",
			Doc: "How long it is remembered that a delivery came and what was decided about it; later copies would be carried out again. At least 1d and not less than LIAISON_RETAIN_BODIES. 0 remembers it for ever."},
		{Env: EnvRetainWorkspaces, Key: "retention.workspaces", Default: "24h",
			Doc: "How long the workspace of a session is kept after the last turn; the next turn makes it anew. 0 keeps it for ever."},
		{Env: EnvRetainSessions, Key: "retention.sessions", Default: "90d",
			Doc: "How long a session in which nothing happens is kept, with its record. 0 keeps it for ever."},
		{Env: EnvRetainAudit, Key: "retention.audit", Default: "400d",
			Doc: "How long a line of the audit log is kept, whatever became of its session. 0 keeps it for ever."},
		{Env: EnvRedactPatterns, Key: "redact.patterns", List: true, Lines: true,
			Doc: "Forms of further secrets, as RE2 expressions such as corp-[0-9a-f]{32}: what one matches is masked wherever Liaison writes or shows something. In the environment each stands on a line of its own. At most 50 of up to 500 bytes; one that matches nothing at all is refused. What runs is never masked."},
		{Env: EnvLogLevel, Key: "log.level", Default: "info",
			Doc: "Least severity that is logged: debug, info, warn or error. Debug includes the bridge's own output."},
		{Env: EnvLogFormat, Key: "log.format", Default: "text",
			Doc: "Form of the log on standard error: text or json."},

		{Env: EnvGitHubAppID, Key: "github.appId",
			Doc: "The GitHub App's numeric id. Setting it turns the GitHub channel on; the key and the webhook secret are then required."},
		{Env: EnvGitHubKey, Key: "github.privateKey", Secret: true,
			Doc: `The App's private key: PEM, PEM with a literal \n for each line break, or base64 of it; PKCS#1 or PKCS#8.`},
		{Env: EnvGitHubKeyPath, Key: "github.privateKeyPath",
			Doc: "File with the App's private key, instead of GITHUB_PRIVATE_KEY."},
		{Env: EnvGitHubSecret, Key: "github.webhookSecret", Secret: true, List: true,
			Doc: "Secret of the App's webhook. While rotating it, several separated by commas; each is accepted."},
		{Env: EnvGitHubAPIURL, Key: "github.apiURL", Default: "https://api.github.com/",
			Doc: "Root of GitHub's REST API as it stands; nothing is appended. For Enterprise Server: https://HOST/api/v3/."},
		{Env: EnvGitHubGraphQLURL, Key: "github.graphqlURL",
			Doc: "Where GitHub's GraphQL API is. Unset is the place that belongs to GITHUB_API_URL: https://HOST/api/graphql for Enterprise Server, /graphql at the root elsewhere."},
		{Env: EnvGitHubSweep, Key: "github.sweep", Default: "5m",
			Doc: "How often GitHub is asked for deliveries that did not arrive, which are then fetched. At least 10s; 0 turns it off."},
		{Env: EnvGitHubReconcile, Key: "github.reconcile", Default: "30m",
			Doc: "How often open sessions are compared with their pull requests, for what no delivery told. At least 10s; 0 turns it off."},
		{Env: EnvGitHubWritePause, Key: "github.writePause", Default: "1s",
			Doc: "Time between two writes of one installation; GitHub asks for at least one second. 0 is for an Enterprise Server without rate limits."},
		{Env: EnvGitHubBots, Key: "github.allowedBots", List: true,
			Doc: "Numeric user ids of bots that may ask and command like people with write permission. No other bot is answered, whatever its name."},
		{Env: EnvGitHubPerActor, Key: "github.actorPerDay", Default: "50",
			Doc: "Most reviews and questions of one person in a day (UTC). A repository's configuration can lower it."},
		{Env: EnvGitHubPerPull, Key: "github.pullPerDay", Default: "50",
			Doc: "Most reviews and questions on one pull request or issue in a day (UTC). A repository's configuration can lower it."},
		{Env: EnvGitHubPerRepo, Key: "github.repositoryPerDay", Default: "500",
			Doc: "Most reviews and questions in one repository in a day (UTC). A repository's configuration can lower it."},
		{Env: EnvWebhookProxy, Key: "github.webhookProxyURL", Secret: true,
			Doc: "For development: a smee channel, such as https://smee.io/CHANNEL, from which GitHub's deliveries are relayed. Each has to be signed with GITHUB_WEBHOOK_SECRET. https, or loopback; not together with LIAISON_PUBLIC_URL."},

		{Env: EnvSlackSecret, Key: "slack.signingSecret", Secret: true, List: true,
			Doc: "Signing secret of the Slack app. Setting it turns the Slack channel on, by way of /webhooks/slack. While rotating it, several separated by commas; each is accepted."},
		{Env: EnvSlackAppToken, Key: "slack.appToken", Secret: true,
			Doc: "App-level token (xapp-) with the scope connections:write. Setting it turns the Slack channel on, by way of Socket Mode; SLACK_SIGNING_SECRET is then not needed, and may be set as well."},
		{Env: EnvSlackBotToken, Key: "slack.botToken", Secret: true,
			Doc: "Bot token (xoxb-) of the one workspace that the app is installed in. For more than one, see SLACK_CLIENT_ID."},
		{Env: EnvSlackClientID, Key: "slack.clientId",
			Doc: "Client id of the Slack app. It opens /slack/install, by which any workspace or organisation can install the app; SLACK_CLIENT_SECRET, LIAISON_ENCRYPTION_KEY and LIAISON_PUBLIC_URL are then required."},
		{Env: EnvSlackClientKey, Key: "slack.clientSecret", Secret: true,
			Doc: "Client secret of the Slack app, for SLACK_CLIENT_ID."},
		{Env: EnvSlackWorkspaces, Key: "slack.workspaces", List: true,
			Doc: "Ids of the only workspaces (T0123456789) and organisations (E0123456789) that may install the app by /slack/install. Set it when the app is distributed publicly: each workspace that installs it uses your model. Unset allows every one that Slack lets."},
		{Env: EnvSlackAPIURL, Key: "slack.apiURL", Default: "https://slack.com/api/",
			Doc: "Root of Slack's Web API. For GovSlack: https://slack-gov.com/api/."},
		{Env: EnvSlackThreads, Key: "slack.threads.mentionRequired", Default: "true",
			Doc: "Whether a reply in a thread that Liaison is part of has to mention it. Direct messages never have to."},
		{Env: EnvSlackDirect, Key: "slack.dm.session", Default: "thread",
			Doc: "What one session is among direct messages: thread, where each message that is no reply begins one, or conversation, where all of them are one."},
		{Env: EnvSlackReply, Key: "slack.reply", Default: "message",
			Doc: "How an answer appears: message, once it is whole; stream, as it grows, by Slack's streams; edit, as it grows, by editing one message."},
		{Env: EnvSlackWatch, Key: "slack.watch", List: true, Fields: []string{"channel", "posts", "debounce"}, Separator: ":",
			Doc: "Channels in which messages need no mention, each as channel:posts:debounce, such as C0123456789:all:30s. posts is top-level, which is the default, or all, with replies too; debounce is how long nobody may have said more before Liaison begins, at most 10m."},
		{Env: EnvSlackGuests, Key: "slack.allowGuests", Default: "false",
			Doc: "Whether guests of the workspace may start and steer turns."},
		{Env: EnvSlackExternal, Key: "slack.allowExternal", Default: "false",
			Doc: "Whether people of other organisations, in shared channels, may start and steer turns."},
		{Env: EnvSlackChannels, Key: "slack.channels", List: true,
			Doc: "Ids of the only channels in which Liaison answers; direct messages are not among them. Unset allows all that it is invited to."},
		{Env: EnvSlackUsers, Key: "slack.users", List: true,
			Doc: "Ids of the only people whom Liaison answers in Slack. Unset allows every full member."},
		{Env: EnvSlackBots, Key: "slack.allowedApps", List: true,
			Doc: "Ids of apps (A0123456789) whose bots may ask and command like people. No other bot is answered."},
		{Env: EnvSlackReactions, Key: "slack.reactions", Default: "true",
			Doc: "Whether a message that is taken up gets a reaction, which another replaces at the end."},
		{Env: EnvPeople, Key: "people", List: true, Fields: []string{"slack", "github"}, Separator: "=",
			Doc: "Who is who, each as slack=github, such as U0123456789=octocat. Only people in it can ask in Slack for a review of a pull request, with what that login may do on GitHub."},
		{Env: EnvEncryptionKey, Key: "encryptionKey", Secret: true, List: true,
			Doc: "Key of 32 bytes, as base64 or hexadecimal digits, that encrypts the tokens of installed workspaces; \"openssl rand -base64 32\" makes one. While rotating it, several separated by commas: the first encrypts, each decrypts."},

		{Env: EnvBridgeBin, Key: "bridge.executable",
			Doc: "The vendor's cursor-sdk-bridge to run agents with. Unset runs the copy that \"liaison bridge install\" installed when CURSOR_API_KEY is set, and Liaison's own bridge otherwise."},
		{Env: EnvBridgeDir, Key: "bridge.dir",
			Doc: "Directory where \"liaison bridge install\" keeps the vendor's bridge, and where it is looked for. Unset is bridge-bin below LIAISON_STATE_DIR."},
		{Env: EnvCursorAPIKey, Key: "bridge.cursorApiKey", Secret: true,
			Doc: "Key for the vendor's bridge. It is given to that process only."},
		{Env: EnvOpenAIBaseURL, Key: "bridge.openaiBaseURL",
			Doc: "Root of an OpenAI-compatible API. It is given to Liaison's own bridge only."},
		{Env: EnvOpenAIAPIKey, Key: "bridge.openaiApiKey", Secret: true,
			Doc: "Key for that API. It is given to Liaison's own bridge only."},
	}
}

// declared holds every setting by its name in the environment.
var declared = sync.OnceValue(func() map[string]Setting {
	all := map[string]Setting{}
	for _, s := range Settings() {
		all[s.Env] = s
	}
	return all
})

// setting returns the declaration of a setting that exists.
func setting(env string) Setting {
	s, ok := declared()[env]
	if !ok {
		panic("config: undeclared setting " + env)
	}
	return s
}
