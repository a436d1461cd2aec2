import { setting } from '../setting.ts';
import { neededDataFile, oneOf, optionalText, requiredUrl, text } from '../setting-types.ts';

/** Settings: how messages are judged. */
export const moderationSettings = {
  moderation: setting('SVC_MODERATION', oneOf(['off', 'rules', 'openai']), {
    text: 'How messages are judged before the engine sees them: rules (length, flood, deny file), openai (the rules, then an endpoint) or off.',
    default: 'rules',
  }),
  moderationBaseUrl: setting('SVC_MODERATION_BASE_URL', requiredUrl(), {
    text: "Endpoint that speaks OpenAI's /moderations.",
    default: 'https://api.openai.com/v1',
  }),
  moderationModel: setting('SVC_MODERATION_MODEL', text(), {
    text: 'Model of that endpoint.',
    default: 'omni-moderation-latest',
  }),
  /** Null: the endpoint wants no key. */
  moderationKeySecret: setting('SVC_MODERATION_KEY_SECRET', optionalText(), {
    text: 'Name of the secret that is its key. Empty: it wants none.',
    default: 'OPENAI_API_KEY',
  }),
  moderationDenyFile: setting('SVC_MODERATION_DENY_FILE', neededDataFile('moderation.deny.txt'), {
    text: 'Texts and /patterns/ that are refused, one a line. Default: moderation.deny.txt in the data folder.',
  }),
};
