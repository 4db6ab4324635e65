quickstart check --hparams run.json
