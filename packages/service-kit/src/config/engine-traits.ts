/** Every engine there is, in the order of preference: the one that is no model comes last. */
export const engineNames = ['claude', 'codex', 'gemini', 'offline'] as const;
export type EngineName = (typeof engineNames)[number];

/** The vendors' variables for the folders in which their programs keep transcripts and logins, when it is not the usual one. */
export const engineHomeNames = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME'] as const;

export type EngineTraits = {
  /** The names its key is looked for under: ours, then the vendor's own variable. Null for one that takes no key. */
  keyNames: { own: string; vendor: string } | null;
  /** What its own program is called with for a login. Null for one without a login that other programs may use. */
  loginArgs: readonly string[] | null;
  /** Whether it speaks the Responses protocol, so that it can use a model server of the operator's, and OpenRouter. */
  takesEndpoint: boolean;
};

/** What sets engines apart. No other code compares their names, but for `offline`, which needs nothing. */
export const engineTraits: Record<EngineName, EngineTraits> = {
  claude: { keyNames: null, loginArgs: ['auth', 'login'], takesEndpoint: false },
  codex: {
    keyNames: { own: 'SVC_CODEX_API_KEY', vendor: 'OPENAI_API_KEY' },
    loginArgs: ['login'],
    takesEndpoint: true,
  },
  gemini: {
    keyNames: { own: 'SVC_GEMINI_API_KEY', vendor: 'GEMINI_API_KEY' },
    loginArgs: null, // its vendor allows a login in its own program alone
    takesEndpoint: false,
  },
  offline: { keyNames: null, loginArgs: null, takesEndpoint: false },
};

/** True for an engine that has no login, and is used with a key. An id that is unknown here is none. */
export function isUsedByKey(id: string): boolean {
  const name = engineNames.find((one) => one === id);
  return name !== undefined && engineTraits[name].keyNames !== null && engineTraits[name].loginArgs === null;
}

/** The engine that a model server of the operator's is used through. */
export const endpointEngine: EngineName = engineNames.find((name) => engineTraits[name].takesEndpoint) ?? 'offline';
