import type { EngineDeps, EngineTerminal, TerminalRequest } from '@svc/engine-kit/engine.ts';
import { operatorHome } from './codex-home.ts';
import { endpointKey } from './codex-host.ts';
import { endpointModel } from './endpoint-model.ts';
import { endpointUrl } from './responses-shim.ts';
import { keyVariable } from './thread-config.ts';

/** Variable of the program's environment with the key of an endpoint of the operator's own. */
const endpointVariable = 'SVC_ENGINE_KEY';
const vendorUrl = 'https://api.openai.com/v1';

/** No calls home. Everything else is the person's own to choose. */
const quiet = ['analytics.enabled=false', 'check_for_update_on_startup=false', 'features.daemon_auto_start=false'];

/**
 * The program on a session of ours. It speaks to an endpoint itself, not through the shim of the turns: it outlives the
 * service. `env`: as the turns have it; its home folder is the person's, which the turns are not shown.
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

/** The key goes by a variable: every process of this machine can read the arguments. */
function providerSettings(url: string, variable: string | null): string[] {
  const provider = { name: 'svc', base_url: url, wire_api: 'responses', ...(variable !== null && { env_key: variable }) };
  const fields = Object.entries(provider).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return ['model_provider="svc"', `model_providers.svc={${fields.join(',')}}`];
}
