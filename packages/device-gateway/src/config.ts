import { commonFields } from '@svc/connector-kit/common-fields.ts';

/** Means "not set": links then contain the gateway's own address. */
export const placeholderBaseUrl = 'https://assistant.example.com';

/** Config fields of every device gateway; a type sets its port. */
export const gatewayFields = (httpPort: number) =>
  ({
    http_port: { type: 'integer', title: 'HTTP port', default: httpPort, minimum: 0, maximum: 65_535 },
    bind_host: { type: 'string', title: 'Bind address', default: '127.0.0.1', minLength: 1, maxLength: 64 },
    require_token: {
      type: 'boolean',
      title: 'Require a token',
      description: 'If off, every caller is the device "local".',
      default: true,
    },
    keys_file: {
      type: 'string',
      title: 'Keys file',
      description:
        'Lists the devices: { "keys": [{ "token", "identity", "username" }] }, mode 0600. Each token is replaced by its digest when it is read.',
      default: 'keys.json',
      minLength: 1,
      maxLength: 4096,
    },
    base_url: {
      type: 'string',
      title: 'Public address',
      description:
        'Address by which devices reach this gateway: https://name without a path. While it is the placeholder, the address on this machine is used.',
      default: placeholderBaseUrl,
      minLength: 1,
      maxLength: 512,
    },
    wake_model: {
      type: 'string',
      title: 'Wake word model',
      description: 'File that devices load to detect their wake word. If empty, there is none.',
      default: '',
      maxLength: 4096,
    },
    wake_phrases: {
      type: 'array',
      title: 'Wake words',
      description: 'The words that the model detects, as shown to people.',
      default: [],
      maxItems: 20,
      items: { type: 'string', minLength: 1, maxLength: 100 },
    },
    app_package: {
      type: 'string',
      title: 'App package',
      description: 'App file that devices can download, such as an .apk. If empty, there is none.',
      default: '',
      maxLength: 4096,
    },
    app_version: {
      type: 'string',
      title: 'Version of the app',
      description: "If empty, the beginning of the file's digest is used.",
      default: '',
      maxLength: 100,
    },
    theme: {
      type: 'object',
      title: 'Colours',
      description: 'Colours of an app, by the names that the app uses.',
      default: {},
      maxProperties: 64,
      additionalProperties: { type: 'string', maxLength: 64 },
    },
    stop_phrases: {
      type: 'array',
      title: 'Stop words',
      description: 'Saying one of these, and nothing else, during an answer stops it.',
      default: ['stop', 'be quiet', 'cancel'],
      maxItems: 50,
      items: { type: 'string', minLength: 1, maxLength: 100 },
    },
    push_content: {
      type: 'boolean',
      title: 'Text in notifications',
      description: 'If off, a notification says only that an answer is ready, without its text.',
      default: false,
    },
    ...commonFields('engine', 'model', 'cwd', 'persona', 'allow'),
  }) as const;

/** An instance's config, validated and with defaults filled in by the manager. */
export type GatewayConfig = {
  http_port: number;
  bind_host: string;
  require_token: boolean;
  keys_file: string;
  base_url: string;
  push_content: boolean;
  wake_model: string;
  wake_phrases: string[];
  app_package: string;
  app_version: string;
  theme: Record<string, string>;
  stop_phrases: string[];
};
