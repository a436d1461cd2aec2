/**
 * The parts of the SDK that we use, written by hand from its real output: importing its types would add its program of several hundred
 * megabytes to development. Other message types are ignored.
 */
export type ClaudeMessage =
  | ClaudeInit
  | {
      type: 'system';
      subtype: 'api_retry';
      attempt: number;
      max_retries: number;
      retry_delay_ms: number;
      error_status: number | null;
      error: string;
    }
  | { type: 'stream_event'; parent_tool_use_id: string | null; event: StreamEvent }
  | {
      type: 'assistant';
      parent_tool_use_id: string | null;
      /** Set when the block is the SDK's own message about a failed request. */
      error?: string;
      message: { content: ContentBlock[] };
    }
  | { type: 'user'; parent_tool_use_id: string | null; message: { content: string | ContentBlock[] } }
  | { type: 'rate_limit_event'; rate_limit_info: { status: string; resetsAt?: number; isUsingOverage?: boolean } }
  | ClaudeResult;

/** Sent at the beginning of each turn. A usable tool server is `connected`. */
export type ClaudeInit = {
  type: 'system';
  subtype: 'init';
  session_id: string;
  model: string;
  apiKeySource?: string;
  mcp_servers: { name: string; status: string }[];
};

export type StreamEvent =
  | {
      type: 'content_block_delta';
      delta: { type: 'text_delta'; text: string } | { type: 'thinking_delta'; thinking: string } | { type: 'other' };
    }
  | { type: 'other' };

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content?: string | { type: string; text?: string }[]; is_error?: boolean }
  | { type: 'other' };

export type ClaudeResult = {
  type: 'result';
  /** Also `success` for a refused API request: only `is_error` is reliable. */
  subtype: string;
  is_error: boolean;
  session_id: string;
  result?: string;
  errors?: string[];
  api_error_status?: number | null;
  /** Usage of this turn and its main model only, without sub-agents; input excludes cached tokens. */
  usage: {
    input_tokens: number;
    output_tokens: number;
    cache_read_input_tokens: number;
    cache_creation_input_tokens: number;
    cache_creation?: { ephemeral_1h_input_tokens?: number } | null;
  };
  /** Usage since the previous result, by model. */
  model_usage_since_last_result?: Record<string, ClaudeModelUsage>;
};

export type ClaudeModelUsage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  thinkingTokens?: number;
  costUSD: number;
  /** `list` when the figure is the vendor's price; otherwise it is a guess or an organization's own price. */
  costBasis?: string;
};

export type ClaudeUserMessage = {
  type: 'user';
  message: { role: 'user'; content: ({ type: 'text'; text: string } | ImageBlock)[] };
  parent_tool_use_id: null;
};

export type ImageBlock = { type: 'image'; source: { type: 'base64'; media_type: string; data: string } };

export type Permission = { behavior: 'allow'; updatedInput: Record<string, unknown> } | { behavior: 'deny'; message: string };

/** A running program of the SDK. */
export type ClaudeQuery = AsyncIterable<ClaudeMessage> & {
  interrupt(): Promise<unknown>;
  close(): void;
  setPermissionMode(mode: 'default'): Promise<unknown>;
  setMcpServers(servers: Record<string, object>): Promise<unknown>;
};

export type ClaudeSdk = { query(call: { prompt: AsyncIterable<ClaudeUserMessage>; options: object }): ClaudeQuery };
