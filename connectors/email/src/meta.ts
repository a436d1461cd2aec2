import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { portElsewhere, type ConnectorMeta } from '@svc/contract/connector-meta.ts';

const tls = {
  type: 'string',
  enum: ['tls', 'starttls', 'none'],
  default: 'tls',
  description: 'tls from the first byte, starttls after it, or none, which is for a server on this machine alone.',
} as const;
const host = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9.:_-]+$' } as const;
const port = { type: 'integer', minimum: 1, maximum: 65_535, ...portElsewhere } as const;
const optionalHost = '^[A-Za-z0-9.:_-]*$';

/** What this connector is. It is data: nothing here may open, read or start anything. */
export const meta = {
  type: 'email',
  displayName: 'E-mail',
  memory_mb: 768, // a mail of 40 MB is held whole while it is read, and once more in its parts
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
        description: 'The address of the mailbox, which answers come from.',
        minLength: 3,
        maxLength: 254,
        pattern: '^[^@\\s<>"]+@[^@\\s<>"]+$',
      },
      user: { type: 'string', title: 'User', description: 'Login of both servers.', minLength: 1, maxLength: 254 },
      password_secret_key: {
        type: 'string',
        title: 'Password',
        description: 'Name of the secret with the password. Where login is xoauth2: with the refresh token, or an access token.',
        minLength: 1,
        maxLength: 64,
      },
      login: {
        type: 'string',
        title: 'Login',
        enum: ['password', 'xoauth2'],
        default: 'password',
        description: 'xoauth2 logs in with an OAuth 2 access token in the place of a password.',
      },
      oauth_token_url: {
        type: 'string',
        title: 'Token server',
        description:
          'Gives access tokens for the refresh token, such as https://oauth2.googleapis.com/token. Empty: the secret is an access token.',
        default: '',
        pattern: '^(https?://[^\\s#@]+)?$',
        maxLength: 1024,
      },
      oauth_client_id: { type: 'string', title: 'OAuth client', default: '', maxLength: 512 },
      oauth_client_secret_key: {
        type: 'string',
        title: 'OAuth client secret',
        description: 'Name of the secret of the OAuth client, where it has one.',
        minLength: 1,
        maxLength: 64,
      },
      oauth_scope: {
        type: 'string',
        title: 'OAuth scope',
        description: 'Where the token server wants it named.',
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
        description: 'PEM file of certificates that are trusted too, for mail servers with one of your own.',
        default: '',
        maxLength: 4096,
      },
      authserv_id: {
        type: 'string',
        title: 'Name in Authentication-Results',
        description:
          'The name with which the own mail server begins its Authentication-Results header, such as mx.example.org. Without that header nobody is believed to be who a mail says.',
        minLength: 1,
        maxLength: 255,
        pattern: optionalHost,
      },
      received_hops: {
        type: 'integer',
        title: 'Own Received headers',
        description: 'How many Received headers the own servers add. Below the last of them a sender can write what they like.',
        default: 1,
        minimum: 1,
        maximum: 20,
      },
      authserv_place: {
        type: 'string',
        title: 'Place of Authentication-Results',
        enum: ['above', 'below'],
        description:
          'below: the own server writes it right below the last of its Received, as Gmail does. Only for a server that writes it for each mail.',
        default: 'above',
      },
      folders: {
        type: 'array',
        title: 'Folders',
        description: 'Folders whose new mail is answered.',
        default: ['INBOX'],
        minItems: 1,
        maxItems: 10,
        items: { type: 'string', minLength: 1, maxLength: 255 },
      },
      sent_folder: {
        type: 'string',
        title: 'Folder of sent mail',
        description: 'Where the server keeps what was sent, if it does. A mail is looked for there before it is sent again.',
        default: '',
        maxLength: 255,
      },
      copy_to_self: {
        type: 'boolean',
        title: 'Copies to the mailbox',
        description:
          'Each answer goes to the mailbox too, and is looked for there before it is sent again. For servers that keep no copy of what is sent.',
        default: false,
      },
      answer_strangers: {
        type: 'boolean',
        title: 'Answer strangers',
        description:
          'Senders whose address is proven and who are not let in are told so, with a code for you to let them in. Spam would be answered, too.',
        default: false,
      },
      mark_seen: {
        type: 'boolean',
        title: 'Mark as read',
        description: 'Mail that the assistant has taken is marked as read.',
        default: false,
      },
      thread_budget: {
        type: 'integer',
        title: 'Mails per thread and hour',
        description: 'More mails of a thread within an hour are not answered: another program may be writing.',
        default: 20,
        minimum: 1,
        maximum: 1000,
      },
      max_file_mb: {
        type: 'integer',
        title: 'Largest file (MB)',
        description: 'A larger attachment is only named.',
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

/** An instance's config, after the manager has checked it and filled in the defaults. */
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
