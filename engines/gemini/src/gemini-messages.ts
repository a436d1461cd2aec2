/** The lines of `-o stream-json` that we use, written by hand from the program's real output. Other types of lines are ignored. */
export type GeminiMessage =
  | { type: 'init'; session_id: string; model: string }
  | { type: 'message'; role: 'user' | 'assistant'; content: string }
  | { type: 'tool_use'; tool_name: string; tool_id: string; parameters: unknown }
  | {
      type: 'tool_result';
      tool_id: string;
      status: 'success' | 'error';
      /** What a terminal would show: empty for some successful tools. */
      output?: string;
      error?: { type: string; message: string };
    }
  | { type: 'error'; severity: 'warning' | 'error'; message: string }
  | GeminiResult;

export type GeminiResult = {
  type: 'result';
  status: 'success' | 'error';
  error?: { type: string; message: string };
  stats?: GeminiStats;
};

/** Usage of this process only, even when it resumed a session: for all its models together, and for each. */
export type GeminiStats = GeminiTokens & { models?: Record<string, GeminiTokens> };

/** `input_tokens` includes cached tokens, `input` does not. */
export type GeminiTokens = { total_tokens: number; input_tokens: number; output_tokens: number; cached: number; input: number };
