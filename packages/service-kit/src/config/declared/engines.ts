import { engineNames } from '../engine-traits.ts';
import { setting } from '../setting.ts';
import {
  baseUrls,
  bytes,
  integer,
  listOf,
  longToken,
  megabytes,
  oneOfOrNone,
  optionalPath,
  optionalText,
  url,
} from '../setting-types.ts';

/** Settings: the engines and where they find their models. */
export const engineSettings = {
  defaultEngine: setting('SVC_DEFAULT_ENGINE', oneOfOrNone(engineNames), {
    text: `${engineNames.slice(0, -1).join(', ')} or ${engineNames.at(-1)}. Unset: the first one that is installed and logged in.`,
  }),
  engineFallback: setting('SVC_ENGINE_FALLBACK', listOf(engineNames), {
    text: 'Engines that answer when the default one is out of quota, not logged in, overloaded or down: ids in order, separated by commas.',
  }),
  engineModel: setting('SVC_ENGINE_MODEL', optionalText(), {
    text: "Model id for the default engine. Unset: the engine's own default.",
  }),
  /** Null: npm's own setting. */
  engineRegistry: setting('SVC_ENGINE_REGISTRY', url(), {
    text: "Package registry that engines are installed from. Unset: npm's own setting.",
  }),
  /** Bytes. */
  maxEngineLine: setting('SVC_MAX_ENGINE_LINE', bytes(64 * 1024, 256 * 1024 * 1024), {
    text: 'An engine program that writes a longer line is ended.',
    default: '32mb',
  }),
  warmEngines: setting('SVC_WARM_ENGINES', integer(0, 64), {
    text: 'How many engine conversations are kept open for a fast next turn.',
    default: '4',
  }),
  /** Bytes. */
  warmEngineMemory: setting('SVC_WARM_ENGINE_MEMORY', megabytes(64, 1_048_576), {
    text: 'Memory in MB above which an engine process is replaced between turns.',
    default: '1024',
  }),
  claudePath: setting('SVC_CLAUDE_PATH', optionalPath(), {
    text: 'Folder that holds the Claude Agent SDK, or the claude program.',
  }),
  claudeBaseUrl: setting('SVC_CLAUDE_BASE_URL', url(), {
    text: "Endpoint that speaks Anthropic's Messages API, for claude instead of the vendor, such as a gateway.",
  }),
  codexPath: setting('SVC_CODEX_PATH', optionalPath(), { text: 'The codex program, or the folder it is installed in.' }),
  codexBaseUrl: setting('SVC_CODEX_BASE_URL', url(), {
    text: 'Address of your own model server, for codex: it has to speak the Responses protocol (/responses), such as http://127.0.0.1:11434/v1 of Ollama.',
  }),
  geminiPath: setting('SVC_GEMINI_PATH', optionalPath(), { text: 'Folder that holds the Gemini CLI, or the gemini program.' }),
  geminiBaseUrl: setting('SVC_GEMINI_BASE_URL', url(), { text: 'Endpoint that speaks the Gemini API, instead of the vendor.' }),
  /** Addresses of model servers to look for. */
  modelServers: setting('SVC_MODEL_SERVERS', baseUrls(), {
    text: 'Where to look for model servers (Ollama, LM Studio, llama.cpp, vLLM): addresses, separated by commas; "none" for nowhere.',
    default: 'http://127.0.0.1:11434/v1,http://127.0.0.1:1234/v1,http://127.0.0.1:8080/v1,http://127.0.0.1:8000/v1',
  }),
  offlineScript: setting('SVC_OFFLINE_SCRIPT', optionalPath(), {
    text: 'Module that scripts the offline engine. For tests and benchmarks.',
  }),
  /** Null: only turns of engines may use the toolbelt. */
  toolbeltToken: setting('SVC_TOOLBELT_TOKEN', longToken('is not a token, so nobody could use the toolbelt with it'), {
    text: 'Token with which your own MCP client uses svc-toolbelt as you. Unset: it cannot.',
  }),
};
