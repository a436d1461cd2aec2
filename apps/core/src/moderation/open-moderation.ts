import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import { noDenyRules, readDenyRules, type DenyRules } from './deny-rules.ts';
import { createModerationRules, defaultLimits } from './moderation-rules.ts';
import { createModeration, type Moderation, type ModerationProvider } from './moderation.ts';
import { createOpenAiProvider } from './openai-provider.ts';

type ModerationSettings = Pick<
  CoreSettings,
  'moderation' | 'moderationBaseUrl' | 'moderationModel' | 'moderationKeySecret' | 'moderationDenyFile'
>;
type Deps = { settings: ModerationSettings; secrets: Pick<Secrets, 'resolve'>; clock: Clock; log: Pick<Log, 'error'> };

/** Creates the moderation that the settings describe. The deny file is read only here. */
export function openModeration({ settings, secrets, clock, log }: Deps): Moderation {
  if (settings.moderation === 'off') return createModeration({ rules: null, rulesFault: null, provider: null });
  let deny: DenyRules = noDenyRules;
  let rulesFault: string | null = null;
  try {
    deny = readDenyRules(settings.moderationDenyFile);
  } catch (error) {
    rulesFault = errorText(error);
    log.error({ err: error }, 'the deny rules cannot be used; messages of people who are not trusted are refused');
  }
  const rules = createModerationRules(defaultLimits, deny, clock);
  return createModeration({ rules, rulesFault, provider: providerOf(settings, secrets, clock) });
}

function providerOf(settings: ModerationSettings, secrets: Pick<Secrets, 'resolve'>, clock: Clock): ModerationProvider | null {
  if (settings.moderation !== 'openai') return null;
  const { moderationBaseUrl: baseUrl, moderationModel: model, moderationKeySecret: name } = settings;
  return createOpenAiProvider({ baseUrl, model, clock, keyOf: async () => (name === null ? null : secrets.resolve(name)) });
}
