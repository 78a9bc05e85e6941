CREATE TABLE "replay_push" (
	"replay_id" uuid NOT NULL,
	"place" bigint NOT NULL,
	"first_tried_at" timestamp (3) with time zone,
	"next_try_at" timestamp (3) with time zone NOT NULL,
	"tries" integer NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"error" text,
	CONSTRAINT "replay_push_pkey" PRIMARY KEY("replay_id","place"),
	CONSTRAINT "replay_push_state_known" CHECK (state IN ('pending', 'delivered', 'failed', 'not_needed'))
);
--> statement-breakpoint
ALTER TABLE "replay" ADD COLUMN "all_met" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "replay" ADD COLUMN "pushed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "replay" ADD COLUMN "push_failed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "replay_push_due" ON "replay_push" USING btree ("next_try_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "replay_push_pending" ON "replay_push" USING btree ("replay_id") WHERE state = 'pending';