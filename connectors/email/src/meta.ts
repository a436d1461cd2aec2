import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { portElsewhere, type ConnectorMeta } from '@svc/contract/connector-meta.ts';

const tls = {
  type: 'string',
  enum: ['tls', 'starttls', 'none'],
  default: 'tls',
  description: '"tls" encrypts from the first byte, "starttls" after connecting; "none" is only for a server on this machine.',
} as const;
const host = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9.:_-]+$' } as const;
const port = { type: 'integer', minimum: 1, maximum: 65_535, ...portElsewhere } as const;
const optionalHost = '^[A-Za-z0-9.:_-]*$';

/** Describes this connector. Only data: it must not open, read or start anything. */
export const meta = {
  type: 'email',
  displayName: 'E-mail',
  memory_mb: 768, // a mail of 40 MB is held as a whole while it is read, and again as its parts
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 100_000,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: true,
    actions: ['file'],
  },
  credentialKeys: ['password_secret_key', 'oauth_client_secret_key'],
  exclusive: ['password_secret_key'],
  configSchema: {
    type: 'object',
    required: ['imap_host', 'smtp_host', 'user', 'password_secret_key', 'address', 'authserv_id'],
    properties: {
      address: {
        type: 'string',
        title: 'Address',
        description: 'Address of the mailbox. Answers are sent from it.',
        minLength: 3,
        maxLength: 254,
        pattern: '^[^@\\s<>"]+@[^@\\s<>"]+$',
      },
      user: { type: 'string', title: 'User', description: 'User name for both servers.', minLength: 1, maxLength: 254 },
      password_secret_key: {
        type: 'string',
        title: 'Password',
        description: 'Name of the secret that holds the password or, with login "xoauth2", the refresh token or an access token.',
        minLength: 1,
        maxLength: 64,
      },
      login: {
        type: 'string',
        title: 'Login',
        enum: ['password', 'xoauth2'],
        default: 'password',
        description: '"xoauth2" logs in with an OAuth 2 access token instead of a password.',
      },
      oauth_token_url: {
        type: 'string',
        title: 'Token server',
        description:
          'Address that issues access tokens for the refresh token, such as https://oauth2.googleapis.com/token. If empty, the secret is an access token.',
        default: '',
        pattern: '^(https?://[^\\s#@]+)?$',
        maxLength: 1024,
      },
      oauth_client_id: { type: 'string', title: 'OAuth client', default: '', maxLength: 512 },
      oauth_client_secret_key: {
        type: 'string',
        title: 'OAuth client secret',
        description: "Name of the secret that holds the OAuth client's secret, if it has one.",
        minLength: 1,
        maxLength: 64,
      },
      oauth_scope: {
        type: 'string',
        title: 'OAuth scope',
        description: 'Scope to request, if the token server requires one.',
        default: '',
        maxLength: 1024,
      },
      imap_host: { ...host, title: 'IMAP server' },
      imap_port: { ...port, title: 'IMAP port', default: 993 },
      imap_tls: { ...tls, title: 'IMAP encryption' },
      smtp_host: { ...host, title: 'SMTP server' },
      smtp_port: { ...port, title: 'SMTP port', default: 465 },
      smtp_tls: { ...tls, title: 'SMTP encryption' },
      ca_file: {
        type: 'string',
        title: 'Certificates (file)',
        description: 'PEM file of additional trusted certificates, for mail servers with your own certificate.',
        default: '',
        maxLength: 4096,
      },
      authserv_id: {
        type: 'string',
        title: 'Name in Authentication-Results',
        description:
          'Name at the beginning of the Authentication-Results header that your mail server adds, such as mx.example.org. Without that header, no sender is verified.',
        minLength: 1,
        maxLength: 255,
        pattern: optionalHost,
      },
      received_hops: {
        type: 'integer',
        title: 'Own Received headers',
        description:
          'How many Received headers your own servers add. Headers below the last of them can be forged by the sender.',
        default: 1,
        minimum: 1,
        maximum: 20,
      },
      authserv_place: {
        type: 'string',
        title: 'Place of Authentication-Results',
        enum: ['above', 'below'],
        description:
          '"below": your server adds it right below the last of its Received headers, as Gmail does. Only for a server that adds it to every message.',
        default: 'above',
      },
      folders: {
        type: 'array',
        title: 'Folders',
        description: 'Folders in which new mail is answered.',
        default: ['INBOX'],
        minItems: 1,
        maxItems: 10,
        items: { type: 'string', minLength: 1, maxLength: 255 },
      },
      sent_folder: {
        type: 'string',
        title: 'Sent mail folder',
        description: 'Folder where the server keeps sent mail, if it does. It is searched before a message is sent again.',
        default: '',
        maxLength: 255,
      },
      copy_to_self: {
        type: 'boolean',
        title: 'Copies to this mailbox',
        description:
          'Each answer is also sent to this mailbox, which is searched before a message is sent again. For servers that keep no copy of sent mail.',
        default: false,
      },
      answer_strangers: {
        type: 'boolean',
        title: 'Answer strangers',
        description:
          'Unknown senders with a verified address get an answer with a code by which you can let them in. Spam is then answered, too.',
        default: false,
      },
      mark_seen: {
        type: 'boolean',
        title: 'Mark as read',
        description: 'Mail that the assistant has accepted is marked as read.',
        default: false,
      },
      thread_budget: {
        type: 'integer',
        title: 'Messages per thread and hour',
        description:
          'Messages of a thread past this number within an hour are not answered, because another program may be writing them.',
        default: 20,
        minimum: 1,
        maximum: 1000,
      },
      max_file_mb: {
        type: 'integer',
        title: 'Largest file (MB)',
        description: 'Of a larger attachment, the assistant gets only the name.',
        default: 20,
        minimum: 1,
        maximum: 100,
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'pairing', 'quiet_strangers'),
    },
  },
  permissions: { read: ['ca_file'] },
  outbound: { kinds: ['text', 'document'], target: { required: true, label: 'ann@example.org, or thread:ID' } },
} as const satisfies ConnectorMeta;

export type Tls = 'tls' | 'starttls' | 'none';

/** An instance's config, validated and with defaults filled in by the manager. */
export type Config = {
  address: string;
  user: string;
  password_secret_key: string;
  login: 'password' | 'xoauth2';
  oauth_token_url: string;
  oauth_client_id: string;
  oauth_client_secret_key?: string;
  oauth_scope: string;
  ca_file: string;
  imap_host: string;
  imap_port: number;
  imap_tls: Tls;
  smtp_host: string;
  smtp_port: number;
  smtp_tls: Tls;
  authserv_id: string;
  received_hops: number;
  authserv_place: 'above' | 'below';
  folders: string[];
  sent_folder: string;
  copy_to_self: boolean;
  answer_strangers: boolean;
  mark_seen: boolean;
  thread_budget: number;
  max_file_mb: number;
};
