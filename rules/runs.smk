# Setup under a defense -> transcripts, one job for all seeds and all settings of a sweep.
rule run:
    input:
        code=run_code,
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
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
        gpu=gpu,
    params:
        **tried("run/{setup}/{defense}"),
        imports=imports(run_code),
        setup=lambda w: plan.setups[w.setup],
        defense=lambda w: plan.defense(w.setup, w.defense),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/run.py"


# What a step costs under each defense of the exhibits that show times: one job, so that they share a machine and a moment.
rule times:
    input:
        code=times_code,
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
        mem_mb=growing(plan.cluster.memory),
        runtime=growing(plan.cluster.minutes),
    params:
        imports=imports(times_code),
        setup=lambda w: plan.setups[w.setup],
        defenses=lambda w: plan.timed(w.setup),
        seeds=list(plan.seeds),
    script:
        "../workflow/scripts/times.py"
