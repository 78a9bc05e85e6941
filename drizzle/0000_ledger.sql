CREATE SEQUENCE "fencing_token" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9007199254740991 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_key" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"secret_sha256" bytea NOT NULL,
	"scopes" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_key_secret_is_sha256" CHECK (octet_length(secret_sha256) = 32)
);
--> statement-breakpoint
CREATE TABLE "attempt" (
	"record_id" uuid NOT NULL,
	"fencing_token" bigint NOT NULL,
	"claim_token" uuid NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	"lease_expires_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"generation" integer NOT NULL,
	"attempt" integer NOT NULL,
	"ending" smallint NOT NULL,
	"owner" text COLLATE "C",
	"error" json,
	"result" json,
	CONSTRAINT "attempt_pkey" PRIMARY KEY("record_id","fencing_token"),
	CONSTRAINT "attempt_ending_known" CHECK (ending BETWEEN 1 AND 5)
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_id" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone DEFAULT date_trunc('milliseconds', now()) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"target" text COLLATE "C" NOT NULL,
	"reason" text,
	"before" json,
	"after" json,
	"request_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "class_policy" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" integer NOT NULL,
	"policy" json NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_policy_history" (
	"name" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"policy" json,
	"diff" json NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"by" text COLLATE "C" NOT NULL,
	"reason" text,
	CONSTRAINT "class_policy_history_pkey" PRIMARY KEY("name","version")
);
--> statement-breakpoint
CREATE TABLE "class_review" (
	"class" text COLLATE "C" PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"by" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_seen" (
	"class" text COLLATE "C" NOT NULL,
	"consumer" text COLLATE "C" NOT NULL,
	"first_seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "class_seen_pkey" PRIMARY KEY("class","consumer")
);
--> statement-breakpoint
CREATE TABLE "duplicate_tally" (
	"record_id" uuid PRIMARY KEY NOT NULL,
	"count" bigint NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "duplicate_tally_counts" CHECK (count >= 1),
	CONSTRAINT "duplicate_tally_in_order" CHECK (first_at <= last_at)
);
--> statement-breakpoint
CREATE TABLE "late_completion" (
	"record_id" uuid NOT NULL,
	"claim_token" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"result" json,
	CONSTRAINT "late_completion_pkey" PRIMARY KEY("record_id","claim_token")
);
--> statement-breakpoint
CREATE TABLE "record" (
	"id" uuid PRIMARY KEY NOT NULL,
	"claim_token" uuid NOT NULL,
	"fencing_token" bigint NOT NULL,
	"first_claimed_at" timestamp (3) with time zone NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	"lease_expires_at" timestamp (3) with time zone,
	"sweep_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"available_at" timestamp (3) with time zone,
	"seq" bigint,
	"occurred_at" timestamp (3) with time zone,
	"version" integer NOT NULL,
	"generation" integer NOT NULL,
	"attempt" integer NOT NULL,
	"lease_ms" integer NOT NULL,
	"state" smallint NOT NULL,
	"cause" smallint,
	"on_lease_expiry" smallint NOT NULL,
	"fingerprint_kind" smallint,
	"class" text COLLATE "C" NOT NULL,
	"consumer" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"fingerprint" bytea,
	"source" text COLLATE "C",
	"refs" text[] COLLATE "C",
	"error" json,
	"result" json,
	"payload" json,
	CONSTRAINT "record_counts_from_one" CHECK (version >= 1 AND generation >= 1 AND attempt >= 1 AND lease_ms >= 1),
	CONSTRAINT "record_fencing_token_exact" CHECK (fencing_token BETWEEN 1 AND 9007199254740991),
	CONSTRAINT "record_state_known" CHECK (state BETWEEN 1 AND 7),
	CONSTRAINT "record_attempt_runs_or_ended" CHECK (CASE WHEN state IN (1, 5) THEN lease_expires_at IS NOT NULL AND ended_at IS NULL ELSE lease_expires_at IS NULL AND ended_at IS NOT NULL END),
	CONSTRAINT "record_swept_while_claimed" CHECK (sweep_at IS NULL OR state = 1),
	CONSTRAINT "record_available_when_failed" CHECK ((state = 3) = (available_at IS NOT NULL)),
	CONSTRAINT "record_cause_of_state" CHECK (CASE state WHEN 4 THEN cause IS NOT NULL AND cause BETWEEN 1 AND 4 WHEN 7 THEN cause IS NOT NULL AND cause IN (5, 6) WHEN 2 THEN cause IS NULL OR cause = 4 WHEN 6 THEN cause IS NULL OR cause = 4 ELSE cause IS NULL END),
	CONSTRAINT "record_lease_expiry_known" CHECK (on_lease_expiry IN (1, 2)),
	CONSTRAINT "record_fingerprint_has_kind" CHECK ((fingerprint IS NULL) = (fingerprint_kind IS NULL)),
	CONSTRAINT "record_fingerprint_kind_known" CHECK (fingerprint_kind IN (1, 2)),
	CONSTRAINT "record_seq_not_negative" CHECK (seq >= 0),
	CONSTRAINT "record_identity_not_empty" CHECK (class <> '' AND consumer <> '' AND key <> '')
);
--> statement-breakpoint
CREATE TABLE "setting" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"value" json NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_target" ON "audit" USING btree ("target","id");--> statement-breakpoint
CREATE INDEX "record_sweep" ON "record" USING btree ("sweep_at") WHERE sweep_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "record_page" ON "record" USING btree ("first_claimed_at");--> statement-breakpoint
CREATE INDEX "record_state_page" ON "record" USING btree ("state","first_claimed_at") WHERE state IN (3, 4, 5, 7);--> statement-breakpoint
CREATE INDEX "record_refs" ON "record" USING gin ("refs") WHERE refs IS NOT NULL;--> statement-breakpoint
CREATE INDEX "record_source" ON "record" USING btree ("source","seq") WHERE source IS NOT NULL;