# Setup under a defense -> transcripts, one job for all seeds and all settings of a sweep.
rule run:
    input:
        code=lambda w: sorted(
            {
                *source("protocol", plan.setups[w.setup]["protocol"]),
                *source("model", plan.setups[w.setup]["model"]["use"]),
                *source("defense", plan.defenses[w.defense]["use"]),
                *library("runs.py"),
            }
        ),
        data=lambda w: datasets_of([w.setup]),
        trained=trained,
    output:
        transcripts=seed_files("results/runs/{setup}/{defense}", "transcript"),
        truths=seed_files("results/runs/{setup}/{defense}", "truth"),
        learned=seed_files("results/runs/{setup}/{defense}", "learned"),
        utility="results/runs/{setup}/{defense}/utility.csv",
    log:
        "logs/run/{setup}/{defense}.log",
    benchmark:
        "logs/run/{setup}/{defense}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.memory),
        runtime=growing(plan.minutes),
        gpu=gpu,
    params:
        **tried("run/{setup}/{defense}"),
        setup=lambda w: plan.setups[w.setup],
        defense=lambda w: plan.defense(w.setup, w.defense),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/run.py"


# What a step costs under each defense of the exhibits that show times: one job, so that they share a machine and a moment.
rule times:
    input:
        code=lambda w: sorted(
            {
                *source("protocol", plan.setups[w.setup]["protocol"]),
                *source("model", plan.setups[w.setup]["model"]["use"]),
                *(
                    f
                    for d in plan.timed(w.setup).values()
                    for f in source("defense", d["use"])
                ),
                *library("times.py"),
            }
        ),
        data=lambda w: datasets_of([w.setup]),
    output:
        "results/runs/{setup}/times.csv",
    log:
        "logs/times/{setup}.log",
    benchmark:
        "logs/times/{setup}.benchmark.tsv"
    group:
        together
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(plan.memory),
        runtime=growing(plan.minutes),
    params:
        setup=lambda w: plan.setups[w.setup],
        defenses=lambda w: plan.timed(w.setup),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/times.py"
