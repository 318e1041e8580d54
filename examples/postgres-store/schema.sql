-- A call is a row: its record as JSON, and beside it what is searched, sorted and summed up. Times are epoch milliseconds.
CREATE TABLE IF NOT EXISTS calls (
  call_id text COLLATE "C" PRIMARY KEY,
  carrier_call_id text,
  term float8 NOT NULL DEFAULT 1,
  seq float8 NOT NULL,
  started_at float8 NOT NULL,
  status text NOT NULL,
  direction text NOT NULL,
  carrier text NOT NULL,
  outcome text,
  end_reason text,
  search text NOT NULL,
  words text NOT NULL DEFAULT '',
  numbers text NOT NULL DEFAULT '',
  incidents text[] NOT NULL DEFAULT '{}',
  providers text[] NOT NULL DEFAULT '{}',
  agents text[] NOT NULL DEFAULT '{}',
  nodes text[] NOT NULL DEFAULT '{}',
  duration_ms float8,
  latency_ms float8,
  turns_ms float8[] NOT NULL,
  stt numeric(12, 6),
  llm numeric(12, 6),
  tts numeric(12, 6),
  telephony numeric(12, 6),
  total numeric(12, 6) NOT NULL,
  record json NOT NULL -- jsonb refuses some texts, such as those with \u0000
);
ALTER TABLE calls ADD COLUMN IF NOT EXISTS term float8 NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS words text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS numbers text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS incidents text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS providers text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS agents text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS nodes text[] NOT NULL DEFAULT '{}';
CREATE INDEX IF NOT EXISTS calls_by_carrier_id ON calls (carrier_call_id);
CREATE INDEX IF NOT EXISTS calls_by_start ON calls (started_at, call_id);
CREATE INDEX IF NOT EXISTS calls_under_way ON calls (started_at) WHERE status <> 'completed';

-- Calls that were deleted: only the ID is left.
CREATE TABLE IF NOT EXISTS forgotten_calls (
  call_id text PRIMARY KEY,
  event jsonb NOT NULL
);
