import type { EngineDeps, EngineTerminal, TerminalRequest } from '@svc/engine-kit/engine.ts';
import { operatorHome } from './codex-home.ts';
import { endpointKey } from './codex-host.ts';
import { endpointModel } from './endpoint-model.ts';
import { endpointUrl } from './responses-shim.ts';
import { keyVariable } from './thread-config.ts';

/** Environment variable with the key of a self-hosted endpoint. */
const endpointVariable = 'SVC_ENGINE_KEY';
const vendorUrl = 'https://api.openai.com/v1';

/** Disables telemetry and update checks. The person sets everything else. */
const quiet = ['analytics.enabled=false', 'check_for_update_on_startup=false', 'features.daemon_auto_start=false'];

/**
 * The program for working on one of our sessions. It connects to an endpoint directly, not through the relay of the turns, because it
 * outlives the service. `env`: that of the turns; its home folder is the person's, which the turns cannot see.
 */
export async function terminalProgram(
  program: string,
  { resume, model }: TerminalRequest,
  deps: Pick<EngineDeps, 'baseUrl' | 'apiKey' | 'env'>,
  env: Record<string, string>,
): Promise<EngineTerminal> {
  const url = deps.baseUrl === null ? null : endpointUrl(deps.baseUrl).href;
  const key = deps.baseUrl === null ? null : endpointKey(deps.baseUrl, deps);
  const named = model ?? (url === null ? null : await endpointModel(url, key ?? ''));
  const isByKey = url === null && env[keyVariable] !== undefined;
  const settings = [
    ...quiet,
    ...(url === null ? [] : providerSettings(url, key === null ? null : endpointVariable)),
    ...(isByKey ? providerSettings(vendorUrl, keyVariable) : []),
    ...(named === null ? [] : [`model=${JSON.stringify(named)}`]),
  ];
  return {
    argv: [program, ...(resume === null ? [] : ['resume', resume]), ...settings.flatMap((setting) => ['-c', setting])],
    env: { ...env, HOME: operatorHome(deps.env), ...(key !== null && { [endpointVariable]: key }) },
    engineSessionId: resume,
  };
}

/** The key is passed in a variable, because every process of this machine can read arguments. */
function providerSettings(url: string, variable: string | null): string[] {
  const provider = { name: 'svc', base_url: url, wire_api: 'responses', ...(variable !== null && { env_key: variable }) };
  const fields = Object.entries(provider).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return ['model_provider="svc"', `model_providers.svc={${fields.join(',')}}`];
}
