import { engineNames, engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { settingList } from '@svc/service-kit/config/settings.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';

type Named = Pick<CoreSettings, 'tts' | 'stt' | 'moderationKeySecret'>;

const engineKeys = engineNames.flatMap((name) => engineTraits[name].keyNames?.own ?? []);

/**
 * Names that begin with `SVC_` are the service's own: settings, which no secret overrides and which are passed to nobody. Only the keys of
 * engines, and those that a setting names, are read.
 * @throws ServiceError `bad_request` for any other such name.
 */
export function refuseServiceName(name: string, { tts, stt, moderationKeySecret }: Named): void {
  const read = [...engineKeys, tts.keySecret, stt.keySecret, moderationKeySecret];
  if (!name.startsWith('SVC_') || read.includes(name)) return;
  const [problem, help] = settingList.has(name)
    ? ['is a setting of the service, which no secret sets', 'Write it into .env and restart the service.']
    : ['belongs to the service, like all names that begin with SVC_, and nothing reads such a secret', 'Choose another name.'];
  throw badRequest(`${name} ${problem}. Nothing was kept. ${help}`, { fields: [{ field: 'name', problem }] });
}
